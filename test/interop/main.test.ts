import t from 'tap'
import { checkGoldenTables } from './golden.ts'
import { type Engines, startEngines, stopEngines } from './support/engines.ts'
import { checkValues } from './values.ts'

// One process of each engine for the whole suite: parts are functions, called in turn.
t.setTimeout(900_000)

await checkValues(t)

let engines: Engines | undefined
t.teardown(async () => engines && stopEngines(engines))
engines = await startEngines()

await checkGoldenTables(t, engines)
