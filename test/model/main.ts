import { memoryPlace } from './memory-place.ts'
import { runModel } from './run.ts'

// A process of its own for the long runs: tap watches every promise of a test, which costs a third of the time.
const [seed, operations] = process.argv.slice(2).map(Number)
const tally = await runModel(seed!, operations!, memoryPlace)
process.stdout.write(JSON.stringify({ ...tally, levels: [...tally.levels] }))
