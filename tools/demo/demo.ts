import { openWarehouse, type Warehouse } from '../../engine/index.ts'
import { CompactionWatch } from './compaction-watch.ts'
import { type DataSet, openDataSet } from './data-set.ts'
import { figureLines } from './figures.ts'
import { differences } from './fingerprint.ts'
import { type FlightsTable, flights, tableName } from './flights-table.ts'
import { chooseFolder, measureFolder, removeFolder } from './folder.ts'
import { formatBytes, formatCount, formatNumberOf, formatSeconds } from './format.ts'
import { drawLevels } from './levels-drawing.ts'
import { type LoadContext, loadFirstWave, loadSecondWave } from './load.ts'
import { showReads } from './look.ts'
import type { DemoOptions } from './options.ts'
import type { Terminal } from './terminal.ts'
import { countRows, fingerprintOf, type RunningComputation, startComputation } from './verify.ts'

/** What stays the same through a run. */
interface Run {
  readonly options: DemoOptions
  readonly data: DataSet
  readonly terminal: Terminal
  readonly computation: RunningComputation
  readonly signal: AbortSignal
}

/** Runs the demo as asked; true when the table is right. The folder is removed at the end unless it is to be kept. */
export async function runDemo(options: DemoOptions, terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  const data = await openDataSet(options.rows)
  const folder = options.verifyOnly ? (options.dir ?? '') : await chooseFolder(options.dir)
  const computation = startComputation({ path: data.path, rows: data.rows, seed: options.seed })
  const run: Run = { options, data, terminal, computation, signal }
  try {
    const size = `${formatNumberOf(data.rows, 'row')} of ${formatCount(data.file.rows)}, ${formatBytes(data.bytes)}`
    terminal.write(`US flights (${size}) → table ${tableName} in ${folder}\n`)
    return options.verifyOnly ? (await verify(run, folder)).right : await loadAndVerify(run, folder)
  } finally {
    computation.stop()
    if (options.verifyOnly || options.keep) terminal.write(`\nThe warehouse is in ${folder}\n`)
    else await removeFolder(folder)
  }
}

async function loadAndVerify(run: Run, folder: string): Promise<boolean> {
  const start = performance.now()
  const written = await withWarehouse(run, folder, false, async (warehouse) => {
    const table = await warehouse.createTable(tableName, flights)
    return write(run, table)
  })
  const disk = await measureFolder(folder)
  const verified = await verify(run, folder)
  heading(run, 'Figures')
  const lines = figureLines({
    ...written,
    ...verified,
    sourceBytes: run.data.bytes,
    disk,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    seconds: (performance.now() - start) / 1000,
  })
  const width = Math.max(...lines.map(([name]) => name.length))
  for (const [name, value] of lines) run.terminal.write(`  ${name.padEnd(width)}  ${value}\n`)
  return verified.right
}

async function write(run: Run, table: FlightsTable) {
  const { data, terminal, signal, options, computation } = run
  const watch = new CompactionWatch(table)
  const context: LoadContext = { table, data, watch, terminal, signal }
  heading(run, 'Two waves')
  const first = await loadFirstWave(context)
  const second = await loadSecondWave(context, options.seed)
  terminal.write(
    `${formatCount(second.corrected)} rows corrected, ${formatCount(second.deleted)} deleted, ${watch.compactions} compactions in the background\n`,
  )

  heading(run, 'Levels')
  draw(run, table)
  const start = performance.now()
  await table.compact({ full: true, signal })
  watch.check()
  const fullSeconds = (performance.now() - start) / 1000
  heading(run, `Levels after a full compaction of ${formatSeconds(fullSeconds)}`)
  draw(run, table)

  heading(run, 'Reads')
  await showReads(context, options.seed)
  const before = await countRows(table, first.snapshot, signal)
  const { firstWaveRows } = await computation.answer
  if (before !== firstWaveRows) {
    throw new Error(`snapshot ${first.snapshot}: ${before} rows, the data set has ${firstWaveRows} different keys`)
  }
  terminal.write(
    `  snapshot ${first.snapshot}, after the first wave: ${formatCount(before)} rows, as many as the data set has keys\n`,
  )

  heading(run, 'Expiry')
  const snapshots = (await table.snapshots()).length
  const { expired, files, bytes } = await table.expireSnapshots({ retainMax: 1 })
  terminal.write(
    `  ${expired.length} of ${formatNumberOf(snapshots, 'snapshot')} expired: ${formatNumberOf(files.length, 'file')} and ${formatBytes(bytes)} freed\n`,
  )
  return { first, second, watch, fullSeconds }
}

/** Compares the table on disk, read through a new handle, with the independent computation. */
async function verify(run: Run, folder: string) {
  const { terminal, signal, computation } = run
  heading(run, 'Verification')
  const start = performance.now()
  const actual = await withWarehouse(run, folder, true, async (warehouse) =>
    fingerprintOf(await warehouse.table(tableName, flights), signal),
  )
  const scanSeconds = (performance.now() - start) / 1000
  const expected = await computation.answer
  const wrong = differences(expected.fingerprint, actual)
  for (const line of wrong) terminal.write(`  ${terminal.style('red', 'DIFFERENT')} ${line}\n`)
  if (wrong.length === 0) {
    terminal.write(
      `  ${terminal.style('green', 'RIGHT')} ${formatCount(actual.rows)} rows, sum of delay ${formatCount(actual.delaySum)}, hash ${actual.hash}: the same as hyparquet and a Map give\n`,
    )
  }
  return { right: wrong.length === 0, rows: actual.rows, scanSeconds, expected }
}

async function withWarehouse<T>(
  { options, signal }: Run,
  folder: string,
  readOnly: boolean,
  step: (warehouse: Warehouse) => Promise<T>,
): Promise<T> {
  const { workers } = options
  const warehouse = await openWarehouse(folder, { readOnly, signal, ...(workers !== undefined && { workers }) })
  try {
    return await step(warehouse)
  } finally {
    await warehouse.close({ discard: true })
  }
}

function draw({ terminal }: Run, table: FlightsTable): void {
  for (const line of drawLevels(table.levels(), terminal)) terminal.write(`${line}\n`)
}

function heading({ terminal }: Run, text: string): void {
  terminal.write(`\n${terminal.style('bold', text)}\n`)
}
