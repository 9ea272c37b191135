import { readFileSync } from 'node:fs'
import { parquetMetadata, parquetRead } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { type Fingerprint, FingerprintBuilder } from './fingerprint.ts'
import { changeOf, correctionOf } from './second-wave.ts'

/** What the computation is told, as the one argument of the process, in JSON. */
export interface ExpectedRequest {
  readonly path: string
  readonly rows: number
  readonly seed: number
}

/** What it answers, in one message. */
export interface Expected {
  /** Different keys after the first wave. */
  readonly firstWaveRows: number
  readonly fingerprint: Fingerprint
  readonly peakBytes: number
  readonly seconds: number
}

/** Departure → position of the row that won. Seconds: V8 keeps small whole numbers in place, others as objects. */
type Departures = Map<number, number>

/** Origin → destination → departures. */
type Winners = Map<string, Map<string, Departures>>

/**
 * The independent computation: another process, another Parquet reader, and Maps in the place of the engine. It shares with the
 * demo only the rule of the second wave and the fingerprint.
 */
async function compute({ path, rows, seed }: ExpectedRequest): Promise<Expected> {
  const start = performance.now()
  const winners: Winners = new Map()
  const delays = new Float64Array(rows)
  const distances = new Float64Array(rows)
  const changed: { readonly row: number; readonly departures: Departures; readonly second: number }[] = []
  for await (const { firstRow, rows: groupRows, origin, destination, date, delay, distance } of flightColumns(
    path,
    rows,
  )) {
    for (let i = 0; i < groupRows; i++) {
      const row = firstRow + i
      const departures = departuresOf(winners, origin[i] as string, destination[i] as string)
      const second = safe(date[i]) / MICROS
      departures.set(second, row)
      delays[row] = delay[i] === null ? Number.NaN : safe(delay[i])
      distances[row] = safe(distance[i])
      if (changeOf(seed, row) !== 'none') changed.push({ row, departures, second })
    }
  }
  const firstWaveRows = count(winners)
  for (const { row, departures, second } of changed) {
    if (changeOf(seed, row) !== 'correct') continue
    const delay = delays[row]!
    delays[row] = (Number.isNaN(delay) ? 0 : delay) + correctionOf(seed, row)
    departures.set(second, row)
  }
  for (const { row, departures, second } of changed) {
    if (changeOf(seed, row) === 'delete') departures.delete(second)
  }
  return {
    firstWaveRows,
    fingerprint: fingerprintOf(winners, delays, distances),
    peakBytes: process.resourceUsage().maxRSS * 1024,
    seconds: (performance.now() - start) / 1000,
  }
}

function fingerprintOf(winners: Winners, delays: Float64Array, distances: Float64Array): Fingerprint {
  const builder = new FingerprintBuilder()
  for (const [origin, destinations] of winners) {
    for (const [destination, departures] of destinations) {
      for (const [second, row] of departures) {
        const delay = delays[row]!
        const minutes = Number.isNaN(delay) ? null : delay
        builder.add(origin, destination, Math.round(second * MICROS), minutes, distances[row]!)
      }
    }
  }
  return builder.finish()
}

function departuresOf(winners: Winners, origin: string, destination: string): Departures {
  let destinations = winners.get(origin)
  if (destinations === undefined) {
    destinations = new Map()
    winners.set(origin, destinations)
  }
  let departures = destinations.get(destination)
  if (departures === undefined) {
    departures = new Map()
    destinations.set(destination, departures)
  }
  return departures
}

function count(winners: Winners): number {
  let rows = 0
  for (const destinations of winners.values()) for (const departures of destinations.values()) rows += departures.size
  return rows
}

const MICROS = 1_000_000

const columns = ['origin', 'destination', 'date', 'delay', 'distance'] as const

type FlightColumns = { readonly firstRow: number; readonly rows: number } & {
  readonly [K in (typeof columns)[number]]: ArrayLike<unknown>
}

/** One row group after another, so that no more than one is in memory. */
async function* flightColumns(path: string, maxRows: number): AsyncGenerator<FlightColumns> {
  const bytes = readFileSync(path)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const metadata = parquetMetadata(file)
  let firstRow = 0
  for (const group of metadata.row_groups) {
    const rowEnd = Math.min(firstRow + Number(group.num_rows), maxRows)
    if (rowEnd <= firstRow) return
    const found = new Map<string, ArrayLike<unknown>>()
    await parquetRead({
      file,
      metadata,
      compressors,
      columns: [...columns],
      rowStart: firstRow,
      rowEnd,
      parsers: { timestampFromMicroseconds: (micros: bigint) => micros },
      onChunk: ({ columnName, columnData }) => found.set(columnName, columnData),
    })
    // A chunk is a whole column of the row group, of which the last rows may not be wanted.
    const column = (name: (typeof columns)[number]): ArrayLike<unknown> => {
      const values = found.get(name)
      if (values !== undefined && values.length >= rowEnd - firstRow) return values
      throw new Error(`hyparquet gave ${values?.length ?? 0} values of ${name}`)
    }
    yield {
      firstRow,
      rows: rowEnd - firstRow,
      origin: column('origin'),
      destination: column('destination'),
      date: column('date'),
      delay: column('delay'),
      distance: column('distance'),
    }
    firstRow = rowEnd
  }
}

/** 64-bit numbers that a double holds. */
function safe(value: unknown): number {
  const number = Number(value)
  if (typeof value === 'bigint' && Number.isSafeInteger(number)) return number
  throw new Error(`the data set holds ${String(value)} where a whole number below 2^53 was expected`)
}

const answer = await compute(JSON.parse(process.argv[2] ?? '{}') as ExpectedRequest)
if (process.send === undefined)
  throw new Error('this program is started by the demo, which takes its answer as a message')
process.send(answer, () => process.disconnect())
