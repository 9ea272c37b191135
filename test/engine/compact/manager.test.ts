import t from 'tap'
import { type CompactionHost, type CompactionPlan, CompactManager } from '../../../engine/compact/manager.ts'
import { TableError } from '../../../engine/errors.ts'
import type { FilesResult } from '../../../engine/tasks/task.ts'
import { manualClock } from '../../support/manual-clock.ts'

const plan = { outputLevel: 5 } as CompactionPlan
const result = { kind: 'files', before: [], after: [] } as unknown as FilesResult

interface Task {
  readonly request: string
  readonly signal: AbortSignal
  readonly finish: () => void
  readonly fail: (error: unknown) => void
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A manager whose tasks the test ends. `work` is how many plans there are to make. */
function setting(work = Number.POSITIVE_INFINITY) {
  const clock = manualClock()
  const tasks: Task[] = []
  const failures: unknown[] = []
  const state = { work, lands: true, running: 0, most: 0 }
  let asked = ''
  const host: CompactionHost = {
    levels: () => {
      throw new Error('not asked for')
    },
    plan: (request) => {
      asked = request
      return state.work-- > 0 ? plan : undefined
    },
    run: (_, signal) => {
      state.most = Math.max(state.most, ++state.running)
      return new Promise<FilesResult>((resolve, reject) => {
        const end = () => state.running--
        tasks.push({
          request: asked,
          signal,
          finish: () => {
            end()
            resolve(result)
          },
          fail: (error) => {
            end()
            reject(error)
          },
        })
        signal.addEventListener('abort', () => {
          end()
          reject(new TableError('ABORTED', 'stopped'))
        })
      })
    },
    land: () => state.lands,
    failed: (_, error) => failures.push(error),
  }
  return { clock, tasks, failures, state, manager: new CompactManager(host, clock) }
}

t.test('a trigger starts one task, one during it is remembered, and one with nothing to do is cheap', async (t) => {
  const { manager, tasks } = setting(2)
  manager.trigger()
  manager.trigger()
  manager.trigger()
  await turn()
  t.equal(tasks.length, 1)
  t.equal(manager.running, plan)
  tasks[0]!.finish()
  await turn()
  t.equal(tasks.length, 2, 'the remembered trigger')
  tasks[1]!.finish()
  await manager.settled()
  t.equal(manager.running, undefined)
  manager.trigger()
  await turn()
  t.equal(tasks.length, 2, 'no plan, no task')
})

t.test('I7 callers at the same time get one compaction after another', async (t) => {
  const { manager, tasks, state } = setting()
  manager.trigger()
  const calls = [manager.full(), manager.normal(), manager.full()]
  for (let i = 0; i < 4; i++) {
    await turn()
    t.equal(tasks.length, i + 1)
    tasks[i]!.finish()
  }
  await Promise.all(calls)
  t.equal(state.most, 1)
  t.strictSame(
    tasks.map(({ request }) => request),
    ['normal', 'full', 'normal', 'full'],
  )
})

t.test('a failure in the background is told and tried again after a wait that doubles, up to a minute', async (t) => {
  const { manager, tasks, failures, clock } = setting()
  manager.trigger()
  let wait = 1000
  for (let i = 0; i < 9; i++) {
    await turn()
    tasks[i]!.fail(new Error(`failure ${i}`))
    await turn()
    t.match(manager.cause, { message: `failure ${i}` })
    manager.trigger()
    clock.advance(wait - 1)
    await turn()
    t.equal(tasks.length, i + 1, 'not before the wait is over')
    clock.advance(1)
    await turn()
    t.equal(tasks.length, i + 2, `tried again after ${wait} ms, without a trigger`)
    wait = Math.min(60_000, wait * 2)
  }
  tasks.at(-1)!.finish()
  await manager.settled()
  t.equal(manager.cause, undefined)
  t.equal(failures.length, 9)
})

t.test('nobody waits for a compaction that has failed', async (t) => {
  const { manager, tasks } = setting()
  manager.trigger()
  await turn()
  tasks[0]!.fail(new Error('disk full'))
  await manager.settled()
  manager.trigger()
  t.equal(manager.running, undefined, 'a writer that looks here goes on')
})

t.test('what a caller asked for fails to the caller, and the next call starts at once', async (t) => {
  const { manager, tasks, failures, clock } = setting()
  const first = manager.full()
  await turn()
  tasks[0]!.fail(new Error('disk full'))
  await t.rejects(first, { message: 'disk full' })
  t.strictSame(failures, [], 'not told twice')
  t.equal(manager.cause, undefined)
  clock.advance(3_600_000)
  await turn()
  t.equal(tasks.length, 1, 'nor tried again behind its back')
  const second = manager.full()
  await turn()
  tasks[1]!.finish()
  t.equal(await second, plan)
})

t.test('a call takes the place of a retry that waits', async (t) => {
  const { manager, tasks, clock } = setting()
  manager.trigger()
  await turn()
  tasks[0]!.fail(new Error('once'))
  await turn()
  const call = manager.normal()
  await turn()
  tasks[1]!.finish()
  await call
  t.equal(manager.cause, undefined)
  clock.advance(3_600_000)
  await turn()
  t.equal(tasks.length, 2)
})

t.test('an abort reaches the running task, or ends the wait for another one, which goes on', async (t) => {
  const { manager, tasks, failures } = setting()
  const abort = new AbortController()
  const running = manager.full(abort.signal)
  await turn()
  abort.abort()
  await t.rejects(running, { code: 'ABORTED' })
  t.equal(manager.running, undefined)
  t.strictSame(failures, [])

  manager.trigger()
  await turn()
  const other = new AbortController()
  const waiting = manager.full(other.signal)
  other.abort()
  await t.rejects(waiting, { code: 'ABORTED' })
  t.equal(tasks.at(-1)!.signal.aborted, false)
  tasks.at(-1)!.finish()
  await manager.settled()
  await t.rejects(manager.full(abort.signal), { code: 'ABORTED' })
  t.equal(tasks.length, 2)
})

t.test('a result whose inputs are gone is dropped, and the picker looks again', async (t) => {
  const { manager, tasks, state } = setting()
  state.lands = false
  const call = manager.full()
  await turn()
  tasks[0]!.finish()
  await turn()
  t.equal(tasks[1]!.request, 'normal')
  state.lands = true
  tasks[1]!.finish()
  await turn()
  t.equal(tasks[2]!.request, 'full', 'the caller still gets what it asked for')
  tasks[2]!.finish()
  t.equal(await call, plan)
})

t.test('close aborts what runs, and nothing starts afterwards', async (t) => {
  const { manager, tasks, failures } = setting()
  manager.trigger()
  manager.trigger()
  const waiting = manager.full()
  await turn()
  const closed = manager.close()
  await t.rejects(waiting, { code: 'CLOSED' })
  await closed
  await manager.close()
  t.ok(tasks[0]!.signal.aborted)
  t.strictSame(failures, [])
  manager.trigger()
  await t.rejects(manager.normal(), { code: 'CLOSED' })
  t.equal(tasks.length, 1)
})

t.test('close forgets a retry', async (t) => {
  const { manager, tasks, clock } = setting()
  manager.trigger()
  await turn()
  tasks[0]!.fail(new Error('once'))
  await turn()
  await manager.close()
  clock.advance(3_600_000)
  await turn()
  t.equal(tasks.length, 1)
})
