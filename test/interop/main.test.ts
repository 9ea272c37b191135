import t from 'tap'
import { checkCases } from './cases.ts'
import { checkChangelogs } from './changelogs.ts'
import { checkConcurrency } from './concurrent.ts'
import { checkEngines } from './engines.ts'
import { checkExpiry } from './expiry.ts'
import { checkGoldenTables } from './golden.ts'
import { checkParquetFiles } from './parquet-files.ts'
import { type Engines, startEngines, stopEngines } from './support/engines.ts'
import { checkSystemTables } from './system-tables.ts'
import { checkTurns } from './turns.ts'
import { checkValues } from './values.ts'
import { checkVectors } from './vectors.ts'
import { checkWrittenLayouts } from './written-layouts.ts'
import { checkWrittenTypes } from './written-types.ts'

// One process of each engine for the whole suite: parts are functions, called in turn.
t.setTimeout(1_500_000)

/** `INTEROP_ONLY=engines` runs the parts whose names match the expression. */
const only = new RegExp(process.env.INTEROP_ONLY ?? '')

if (only.test('values')) await checkValues(t)

let engines: Engines | undefined
t.teardown(async () => engines && stopEngines(engines))
engines = await startEngines()
for (const missing of Object.values(engines)) if (typeof missing === 'string') console.error(`SKIPPED: ${missing}`)

const parts = {
  golden: checkGoldenTables,
  'written types': checkWrittenTypes,
  'written layouts': checkWrittenLayouts,
  cases: checkCases,
  'system tables': checkSystemTables,
  turns: checkTurns,
  vectors: checkVectors,
  concurrency: checkConcurrency,
  expiry: checkExpiry,
  changelogs: checkChangelogs,
  engines: checkEngines,
  'parquet files': checkParquetFiles,
}
for (const [name, check] of Object.entries(parts)) if (only.test(name)) await check(t, engines)
