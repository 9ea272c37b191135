import t from 'tap'
import { kinds, operations, prepare, tryAll } from '../sim/errors.ts'

// Each call of an operation fails in turn. `npm run sim -- --errors` tries every call with every failure; here a part of them is tried,
// another one each time.
const stride = Number(process.env.ERROR_STRIDE ?? 61)
const first = Math.floor(Math.random() * stride)

for (const [kind, options] of Object.entries(kinds)) {
  t.test(
    `an error at any call leaves a handle that goes on, and loses nothing: ${kind}`,
    { timeout: 600_000 },
    async (t) => {
      const unhandled: unknown[] = []
      const note = (error: unknown) => unhandled.push(error)
      process.on('unhandledRejection', note)
      t.teardown(() => process.off('unhandledRejection', note))
      const disk = await prepare(options)
      t.comment(`the first call is ${first}, then every ${stride}th`)
      for (const operation of operations) {
        const { points, outcomes, broken } = await tryAll(disk, operation, stride, first)
        t.comment(`${operation.name}: ${points} points, ${JSON.stringify(outcomes)}`)
        t.same(broken.slice(0, 10), [], `${operation.name}: ${broken.length} broken promises`)
      }
      t.same(unhandled, [], 'no promise was rejected unheard')
    },
  )
}
