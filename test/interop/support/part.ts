import type { Test } from 'tap'
import { openWarehouse, type Warehouse } from '../../../engine/index.ts'
import type { Engines } from './engines.ts'
import type { Json } from './json-lines.ts'
import type { Mirror, Row } from './mirror.ts'
import type { JsonRow, Oracle, OracleTable } from './oracle.ts'
import type { Python } from './python.ts'
import { roundFloats } from './values.ts'

/** What a part of the suite works with. */
export interface Part {
  readonly t: Test
  readonly java: Oracle
  /** Undefined when the machine has none: the part has said so. */
  readonly python: Python | undefined
  /** An empty warehouse, written without threads and syncs. */
  readonly warehouse: Warehouse
}

/** A test that needs Java, and Python where there is one. What can't run is skipped and says why. */
export async function part(
  t: Test,
  engines: Engines,
  title: string,
  run: (part: Part) => Promise<void>,
): Promise<void> {
  const { oracle, python } = engines
  await t.test(title, { skip: typeof oracle === 'string' && oracle }, async (t) => {
    if (typeof oracle === 'string') return
    if (typeof python === 'string') t.pass('in Python', { skip: python })
    const warehouse = await openWarehouse(t.testdir(), { workers: 0, durability: 'none' })
    try {
      await run({ t, java: oracle, python: typeof python === 'string' ? undefined : python, warehouse })
    } finally {
      await warehouse.close({ discard: true })
    }
  })
}

/** A table of ours as Java sees it. */
export function inJava({ java }: Part, mirror: Mirror): OracleTable {
  return java.table(mirror.warehouse, mirror.name)
}

/** Java writes rows and deletes keys in one commit, with the compaction that comes of it. */
export async function javaWrites(
  part: Part,
  mirror: Mirror,
  put: readonly Row[],
  gone: readonly Row[] = [],
): Promise<void> {
  await inJava(part, mirror).write([
    ...put.map((row) => ({ row: mirror.json(row) })),
    ...gone.map((row) => ({ kind: '-D' as const, row: mirror.json(row) })),
  ])
  mirror.holds(put)
  mirror.lacks(gone)
}

export interface CheckOptions {
  /** Why pypaimon can't read the table. */
  readonly notInPython?: string
}

/**
 * Every engine says the same of a table: Java finds nothing wrong in any file of any snapshot, and Java, pypaimon and our own
 * scan give the rows that were put.
 */
export async function check(part: Part, mirror: Mirror, when: string, options: CheckOptions = {}): Promise<void> {
  const { t, python } = part
  const java = inJava(part, mirror)
  const expected = mirror.expected()
  const { problems, files } = await java.verify()
  t.strictSame(problems, [], `${when}: Java finds nothing wrong in ${files} files`)
  sameRows(t, await mirror.scan(), expected, `${when}: our rows`)
  sameRows(t, roundAll(mirror, await java.read()), expected, `${when}: rows by Java`)
  if (python !== undefined && options.notInPython === undefined) {
    const rows = await python.readTable(mirror.warehouse, mirror.name)
    sameRows(t, roundAll(mirror, rows), expected, `${when}: rows by pypaimon`)
  }
}

/** FLOATs as 32 bits, whatever digits an engine prints. */
export function roundAll(mirror: Mirror, rows: readonly JsonRow[]): readonly JsonRow[] {
  return rows.map((row) => roundFloats(mirror.fields, row))
}

/** The same rows in any order. Says which rows differ, a few of them. */
export function sameRows(t: Test, actual: readonly JsonRow[], expected: readonly JsonRow[], message: string): void {
  const [found, wanted] = [actual.map(text), expected.map(text)]
  const surplus = without(found, wanted)
  const missing = without(wanted, found)
  if (surplus.length === 0 && missing.length === 0) t.pass(`${message} (${wanted.length})`)
  else {
    t.fail(message, {
      rows: { found: found.length, wanted: wanted.length },
      surplus: surplus.slice(0, 3),
      missing: missing.slice(0, 3),
    })
  }
}

/** Elements of `list` that `other` lacks, each as often as it has more of them. */
function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const one of other) counts.set(one, (counts.get(one) ?? 0) + 1)
  return list.filter((one) => {
    const count = counts.get(one) ?? 0
    if (count > 0) counts.set(one, count - 1)
    return count === 0
  })
}

/** JSON text that keeps -0.0. */
function text(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) => (Object.is(part, -0) ? '-0.0' : part))
}
