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

await checkValues(t)

let engines: Engines | undefined
t.teardown(async () => engines && stopEngines(engines))
engines = await startEngines()
for (const missing of Object.values(engines)) if (typeof missing === 'string') console.error(`SKIPPED: ${missing}`)

await checkGoldenTables(t, engines)
await checkWrittenTypes(t, engines)
await checkWrittenLayouts(t, engines)
await checkCases(t, engines)
await checkSystemTables(t, engines)
await checkTurns(t, engines)
await checkVectors(t, engines)
await checkConcurrency(t, engines)
await checkExpiry(t, engines)
await checkChangelogs(t, engines)
await checkEngines(t, engines)
await checkParquetFiles(t, engines)
