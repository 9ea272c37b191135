import t from 'tap'
import { watchAllocations } from './watch.ts'

// Before the decoders are loaded: some keep the classes of arrays.
watchAllocations(128 * 1024 * 1024)
const { allTargets } = await import('./targets.ts')
const { fuzz } = await import('./run.ts')

const inputs = Number(process.env.FUZZ_INPUTS ?? 100)
const seed = Number(process.env.FUZZ_SEED ?? 1)

for (const target of allTargets()) {
  t.test(`changed bytes for ${target.name}: values or a typed error, in little time and memory`, async (t) => {
    t.ok(target.seeds.length > 0, `${target.seeds.length} valid inputs`)
    for (const bytes of target.seeds.slice(0, 2)) {
      const { refused, faults } = await fuzz({ ...target, seeds: [bytes] }, inputs / 2, seed)
      t.same(faults, [])
      t.ok(refused > 0, `${refused} refused`)
    }
  })
}

t.test('the watch sees an array that is too large before it is made, and errors of other kinds', async (t) => {
  const target = (decode: (bytes: Uint8Array) => unknown) => ({ name: 'none', seeds: [new Uint8Array(9)], decode })
  const first = async (decode: (bytes: Uint8Array) => unknown) => (await fuzz(target(decode), 1, seed)).faults[0]
  t.match(await first(() => new Uint32Array(2 ** 30)), /4294967296 bytes asked for/)
  t.match(await first(() => [1, 2].map(() => new Uint8Array(2 ** 26))), /took 134217728 bytes of memory/)
  t.match(await first(() => JSON.parse('[')), /SyntaxError/)
})
