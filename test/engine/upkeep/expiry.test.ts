import t, { type Test } from 'tap'
import { Pins } from '../../../engine/store/pins.ts'
import type { ExpireResult } from '../../../engine/upkeep/expire.ts'
import type { ExpireRequest } from '../../../engine/upkeep/expire-request.ts'
import { Expiry, type ExpiryListener } from '../../../engine/upkeep/expiry.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'

const request: ExpireRequest = {
  retainMin: 1,
  retainMax: 1,
  olderThan: 4e12,
  limit: 1000,
  cleanEmptyDirectories: false,
  dryRun: false,
  changelogs: { retainMin: 1, retainMax: 1, olderThan: 4e12, outlive: false },
  consumersOlderThan: undefined,
  consumersKeepSnapshots: true,
}

/** Nothing may fail; runs that ended snapshots are gathered. */
const listener = (t: Test, ended: ExpireResult[] = []): ExpiryListener => ({
  expired: (result) => ended.push(result),
  failed: (error) => t.error(error),
})

t.test('C089: what a reader held back goes when it is done', async (t) => {
  const { store } = goldenStore('uc')
  const pins = new Pins()
  const ended: ExpireResult[] = []
  const expiry = new Expiry(store, pins, listener(t, ended))
  const [two, three] = [pins.pin(2), pins.pin(3)]
  t.same((await expiry.run(request)).heldBack, [2, 3])
  three()
  t.equal(await store.snapshots.earliestId(), 2, 'the first pin still holds')
  two()
  two()
  await expiry.close()
  t.equal(await store.snapshots.earliestId(), await store.snapshots.latestId())
  t.ok(ended.length >= 2, 'the listener hears of the run that nobody waits for')
  t.equal(ended.at(-1)?.earliest, await store.snapshots.latestId())
})

t.test(
  'a reader that comes while EARLIEST moves past its snapshot holds the run back, and it goes on when the reader is done',
  async (t) => {
    const { fs, store } = goldenStore('uc')
    const pins = new Pins()
    let release = () => {}
    const faulty = faultyFileSystem(fs, (_, call) => {
      if (call.startsWith('rename') && call.endsWith('EARLIEST')) release = pins.pin(2)
      return 'pass'
    })
    const expiry = new Expiry(storeOver(faulty, store.paths.table), pins, listener(t))
    const { expired, heldBack } = await expiry.run(request)
    t.same({ expired, heldBack }, { expired: [1], heldBack: [2] })
    release()
    await expiry.close()
    t.same(await store.snapshots.allIds(), [await store.snapshots.latestId()])
  },
)

t.test('runs follow one another', async (t) => {
  const { store } = goldenStore('uc')
  const expiry = new Expiry(store, new Pins(), listener(t))
  const [first, second] = await Promise.all([
    expiry.run({ ...request, retainMin: 3, retainMax: 3 }),
    expiry.run(request),
  ])
  t.same(second.expired, [first.earliest!, first.earliest! + 1])
})

t.test('a failed run does not stop the next, and one that nobody waits for tells its error', async (t) => {
  const { fs, store } = goldenStore('uc')
  let failing = true
  const faulty = faultyFileSystem(fs, (_, call) => (failing && call.startsWith('create') ? 'fail' : 'pass'))
  const errors: unknown[] = []
  const pins = new Pins()
  const expiry = new Expiry(storeOver(faulty, store.paths.table), pins, {
    expired: () => undefined,
    failed: (error) => errors.push(error),
  })
  await t.rejects(expiry.run(request), { code: 'IO' })
  failing = false
  await expiry.run({ ...request, retainMin: 2, retainMax: 2 })
  const release = pins.pin((await store.snapshots.earliestId())!)
  t.equal((await expiry.run(request)).heldBack.length, 1)
  failing = true
  release()
  await expiry.close()
  t.match(errors, [{ code: 'IO' }])
})

t.test('a closed one waits for nobody', async (t) => {
  const { store } = goldenStore('uc')
  const pins = new Pins()
  const expiry = new Expiry(store, pins, listener(t))
  const release = pins.pin(2)
  await expiry.run(request)
  await expiry.close()
  release()
  t.equal(await store.snapshots.earliestId(), 2)
})
