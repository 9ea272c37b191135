import { watchAllocations } from './watch.ts'

/** `npm run fuzz -- [inputs] [seed] [part of a decoder's name]`: changed and random bytes through every decoder. */
const [inputs = '20000', seed = '1', part = ''] = process.argv.slice(2)
// Before the decoders are loaded: some keep the classes of arrays.
watchAllocations(128 * 1024 * 1024)
const { allTargets } = await import('./targets.ts')
const { fuzz } = await import('./run.ts')

const targets = allTargets().filter(({ name }) => name.includes(part))
let faults = 0
let total = 0
for (const target of targets) {
  const found = await fuzz(target, Math.ceil(Number(inputs) / targets.length), Number(seed))
  const { refused, slowestMillis, largestBytes } = found
  const cost = `slowest ${Math.round(slowestMillis)} ms, largest array ${Math.ceil(largestBytes / 1024)} KiB`
  console.log(`${target.name}: ${found.inputs} inputs from ${target.seeds.length}, ${refused} refused, ${cost}`)
  for (const fault of found.faults) console.log(`  ${fault}`)
  faults += found.faults.length
  total += found.inputs
}
console.log(`${total} inputs, ${faults} faults`)
process.exitCode = faults === 0 ? 0 : 1
