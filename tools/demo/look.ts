import { rowsOf } from '../../formats/column/values.ts'
import { type DataSet, flightBatches } from './data-set.ts'
import type { Flight } from './flights-table.ts'
import { formatMinute } from './format.ts'
import type { LoadContext } from './load.ts'
import { type Change, changeOf } from './second-wave.ts'

const SCAN_ROWS = 5

/** Reads a row that the second wave left alone, one it corrected and one it deleted, and then a few neighbours of the first. */
export async function showReads({ table, data, terminal, signal }: LoadContext, seed: number): Promise<void> {
  const examples = findExamples(data, seed)
  for (const [change, flight] of examples) {
    const { origin, destination, date } = flight
    const start = performance.now()
    const found = await table.get({ origin, destination, date }, { signal })
    const millis = (performance.now() - start).toFixed(1)
    const note =
      change === 'none' ? 'as loaded' : `${change === 'correct' ? 'corrected' : 'deleted'}, was ${minutes(flight)}`
    const result = found === undefined ? 'no such row' : `delay ${minutes(found)}, ${found.distance} miles`
    terminal.write(`  get   ${keyText(flight)}  ${result}  ${terminal.style('dim', `(${note}; ${millis} ms)`)}\n`)
  }
  const { origin, destination } = examples.get('none') ?? [...examples.values()][0]!
  const start = performance.now()
  let first = true
  for await (const flight of table.scan({
    range: { gte: { origin, destination }, lte: { origin, destination } },
    limit: SCAN_ROWS,
    signal,
  })) {
    const millis = (performance.now() - start).toFixed(1)
    const note = first
      ? `  ${terminal.style('dim', `(${origin} to ${destination}, first ${SCAN_ROWS}; ${millis} ms)`)}`
      : ''
    terminal.write(
      `  ${first ? 'scan' : '    '}  ${keyText(flight)}  delay ${minutes(flight)}, ${flight.distance} miles${note}\n`,
    )
    first = false
  }
}

/** The first row of the data set of each kind. */
function findExamples(data: DataSet, seed: number): ReadonlyMap<Change, Flight> {
  const examples = new Map<Change, Flight>()
  for (const { firstRow, batch } of flightBatches(data)) {
    for (let i = 0; i < batch.rows && examples.size < 3; i++) {
      const change = changeOf(seed, firstRow + i)
      if (!examples.has(change)) examples.set(change, rowsOf(batch, undefined, i, i + 1)[0] as Flight)
    }
    if (examples.size === 3) break
  }
  return examples
}

function keyText({ origin, destination, date }: Flight): string {
  return `${origin} ${destination} ${formatMinute(date)}`
}

function minutes({ delay }: Flight): string {
  return delay === null ? 'unknown' : `${delay} min`
}
