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

/** Origin and destination → departure in microseconds → position of the row that won. */
type Winners = Map<string, Map<number, number>>

/**
 * The independent computation: another process, another Parquet reader, and Maps in the place of the engine. It shares with the
 * demo only the rule of the second wave and the fingerprint.
 */
async function compute({ path, rows, seed }: ExpectedRequest): Promise<Expected> {
  const start = performance.now()
  const winners: Winners = new Map()
  const delays = new Float64Array(rows)
  const distances = new Float64Array(rows)
  // Rows of the second wave, with their keys.
  const changed: { readonly row: number; readonly route: string; readonly date: number }[] = []
  for await (const { firstRow, origin, destination, date, delay, distance } of flightColumns(path, rows)) {
    for (let i = 0; i < origin.length; i++) {
      const row = firstRow + i
      const route = `${origin[i]},${destination[i]}`
      departuresOf(winners, route).set(safe(date[i]), row)
      delays[row] = delay[i] === null ? Number.NaN : safe(delay[i])
      distances[row] = safe(distance[i])
      if (changeOf(seed, row) !== 'none') changed.push({ row, route, date: safe(date[i]) })
    }
  }
  const firstWaveRows = count(winners)
  for (const { row, route, date } of changed) {
    if (changeOf(seed, row) !== 'correct') continue
    delays[row] = (Number.isNaN(delays[row]) ? 0 : delays[row]!) + correctionOf(seed, row)
    winners.get(route)!.set(date, row)
  }
  for (const { row, route, date } of changed) if (changeOf(seed, row) === 'delete') winners.get(route)!.delete(date)
  const builder = new FingerprintBuilder()
  for (const [route, departures] of winners) {
    const [origin, destination] = route.split(',') as [string, string]
    for (const [date, row] of departures) {
      const delay = delays[row]!
      builder.add(origin, destination, date, Number.isNaN(delay) ? null : delay, distances[row]!)
    }
  }
  return {
    firstWaveRows,
    fingerprint: builder.finish(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
    seconds: (performance.now() - start) / 1000,
  }
}

function departuresOf(winners: Winners, route: string): Map<number, number> {
  const known = winners.get(route)
  if (known !== undefined) return known
  const departures = new Map<number, number>()
  winners.set(route, departures)
  return departures
}

function count(winners: Winners): number {
  let rows = 0
  for (const departures of winners.values()) rows += departures.size
  return rows
}

const columns = ['origin', 'destination', 'date', 'delay', 'distance'] as const

type FlightColumns = { readonly firstRow: number } & {
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
    const column = (name: string) => Array.prototype.slice.call(found.get(name), 0, rowEnd - firstRow)
    const [origin, destination, date, delay, distance] = columns.map(column) as [
      unknown[],
      unknown[],
      unknown[],
      unknown[],
      unknown[],
    ]
    yield { firstRow, origin, destination, date, delay, distance }
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
