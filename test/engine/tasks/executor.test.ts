import t from 'tap'
import { TableError } from '../../../engine/errors.ts'
import { untilAborted } from '../../../engine/tasks/abort.ts'
import { SharedExecutor } from '../../../engine/tasks/shared-executor.ts'
import type { TaskExecutor } from '../../../engine/tasks/submit.ts'

t.test('a shared executor ends with its last owner, and each may let go twice', async (t) => {
  let closed = 0
  const executor = { close: async () => void closed++ } as unknown as TaskExecutor
  const shared = new SharedExecutor(executor)
  const [first, second] = [shared.hold(), shared.hold()]
  await first()
  await first()
  t.equal(closed, 0)
  await second()
  await second()
  t.equal(closed, 1)
})

t.test('a wait ends with the promise or with the signal, whichever comes first', async (t) => {
  const never = new Promise<number>(() => {})
  t.equal(await untilAborted(Promise.resolve(1), undefined, 'Stopped.'), 1)
  const abort = new AbortController()
  t.equal(await untilAborted(Promise.resolve(2), abort.signal, 'Stopped.'), 2)
  await t.rejects(untilAborted(Promise.reject(new TableError('IO', 'disk')), abort.signal, 'Stopped.'), { code: 'IO' })
  const waiting = untilAborted(never, abort.signal, 'Stopped.')
  const reason = new Error('why')
  abort.abort(reason)
  await t.rejects(waiting, { code: 'ABORTED', message: 'Stopped.', cause: reason })
  await t.rejects(untilAborted(Promise.resolve(3), abort.signal, 'Stopped.'), { code: 'ABORTED' })
})
