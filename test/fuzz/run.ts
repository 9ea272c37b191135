import { seededRandom } from '../support/seeded-random.ts'
import { mutate } from './mutate.ts'
import type { Target } from './targets.ts'
import { costOf } from './watch.ts'

/** Bytes that decoding may take at most, all arrays together, besides a multiple of the input's own. */
const FIXED_BYTES = 64 * 1024 * 1024
const BYTES_A_BYTE = 1024
const MOST_MILLIS = 1000

export interface Findings {
  inputs: number
  refused: number
  slowestMillis: number
  largestBytes: number
  /** Other errors than `FormatError` and `TableError`, and inputs that took too much; with the input, as base64 when short. */
  readonly faults: string[]
}

/** Decodes this many changed inputs, and a tenth as many random ones. */
export async function fuzz(target: Target, inputs: number, seed: number): Promise<Findings> {
  const findings: Findings = { inputs: 0, refused: 0, slowestMillis: 0, largestBytes: 0, faults: [] }
  for (let i = 0; i < inputs && findings.faults.length < 5; i++) {
    const random = seededRandom(seed * 1_000_003 + i)
    const pick = () => target.seeds[Math.floor(random.fraction() * target.seeds.length)] ?? new Uint8Array(0)
    const bytes =
      i % 10 === 9
        ? Uint8Array.from({ length: random.fraction() * 200 }, () => random.fraction() * 256)
        : mutate(pick(), pick(), random)
    findings.inputs++
    const { error, cost } = await costOf(() => target.decode(bytes))
    findings.slowestMillis = Math.max(findings.slowestMillis, cost.millis)
    findings.largestBytes = Math.max(findings.largestBytes, cost.largest)
    const fault = faultOf(error, cost, bytes.length)
    if (fault !== undefined) findings.faults.push(`${target.name}, seed ${seed}, input ${i}: ${fault}${shown(bytes)}`)
    else if (error !== undefined) findings.refused++
  }
  return findings
}

function faultOf(
  error: unknown,
  cost: { readonly total: number; readonly millis: number },
  bytes: number,
): string | undefined {
  const name = error instanceof Error ? error.name : typeof error
  if (error !== undefined && name !== 'FormatError' && name !== 'TableError')
    return String((error as Error).stack ?? error)
      .split('\n', 8)
      .join('\n')
  if (cost.millis > MOST_MILLIS) return `took ${Math.round(cost.millis)} ms for ${bytes} bytes`
  if (cost.total > FIXED_BYTES + bytes * BYTES_A_BYTE) return `took ${cost.total} bytes of memory for ${bytes} bytes`
  return undefined
}

function shown(bytes: Uint8Array): string {
  return bytes.length > 400 ? '' : `\n  ${Buffer.from(bytes).toString('base64')}`
}
