import { basename, dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isTableError } from '../../engine/index.ts'
import { type DamageCounts, damagesOf } from './damages.ts'
import type { Reading, Subject } from './tables.ts'

/** What became of the damages of one kind of file. */
export interface Outcome {
  damages: number
  /** Reads that gave what they did before. */
  right: number
  /** Reads that failed with a typed error. */
  refused: number
  /** Reads that gave something else without an error. */
  readonly wrong: string[]
  /** Errors that are no `TableError`, or not one of damage. */
  readonly untyped: string[]
  slowestMillis: number
}

/** The kind of a file by its folder and name. */
function kindOf(path: string): string {
  const name = basename(path)
  const folder = basename(dirname(path))
  if (name === 'LATEST' || name === 'EARLIEST') return `hint of ${folder}`
  if (folder === 'manifest') return name.replace(/-[0-9a-f]{8}-.*$/, '')
  if (folder.startsWith('bucket-')) return name.startsWith('changelog') ? 'changelog file' : 'data file'
  return folder
}

/** Damages each file of a table in turn, `most.files` of a kind, reads all there is to read, and puts the file back. */
export async function runDamages(
  subject: Subject,
  counts: (kind: string) => DamageCounts,
  seed: number,
  most: { readonly files: number; readonly others: number } = { files: Infinity, others: Infinity },
): Promise<ReadonlyMap<string, Outcome>> {
  const { fs, files } = subject
  const outcomes = new Map<string, Outcome>()
  const expected = await subject.read()
  const whole = new Map<string, Uint8Array>()
  for (const path of files) whole.set(path, await fs.readFile(path))
  const seen = new Map<string, number>()
  // Of the newest files of a kind reads need most.
  for (const [number, path] of files.toReversed().entries()) {
    const kind = kindOf(path)
    const count = seen.get(kind) ?? 0
    if (count >= most.files) continue
    seen.set(kind, count + 1)
    const outcome = outcomes.get(kind) ?? { damages: 0, right: 0, refused: 0, wrong: [], untyped: [], slowestMillis: 0 }
    outcomes.set(kind, outcome)
    const others = files
      .filter((other) => other !== path && kindOf(other) === kind)
      .map((other) => ({ name: basename(other), bytes: whole.get(other)! }))
      .slice(0, most.others)
    for (const { what, bytes } of damagesOf(whole.get(path)!, others, counts(kind), seed + number)) {
      await fs.unlink(path)
      if (bytes !== undefined) fs.plant(path, bytes)
      const start = performance.now()
      judge(outcome, `${subject.name}: ${basename(path)} ${what}`, expected, await subject.read())
      outcome.slowestMillis = Math.max(outcome.slowestMillis, performance.now() - start)
      fs.plant(path, whole.get(path)!)
    }
  }
  return outcomes
}

function judge(outcome: Outcome, label: string, expected: Reading, actual: Reading): void {
  outcome.damages++
  for (const [part, rows] of Object.entries(actual)) {
    if (rows instanceof Error) {
      if (isTableError(rows) && rows.code !== 'INTERNAL') outcome.refused++
      else outcome.untyped.push(`${label}: ${part}: ${rows.stack}`)
    } else if (isDeepStrictEqual(rows, expected[part])) outcome.right++
    else outcome.wrong.push(`${label}: ${part}`)
  }
}
