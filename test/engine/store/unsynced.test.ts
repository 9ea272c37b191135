import t from 'tap'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { Unsynced } from '../../../engine/store/unsynced.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const text = (value: string) => new TextEncoder().encode(value)

t.test('settled files survive every power cut, with folders that were made for them', async (t) => {
  const fs = createMemoryFileSystem()
  const unsynced = new Unsynced({ fs, random: seededRandom(1) })
  await unsynced.create('/t/p=1/bucket-0/a', text('aaaa'))
  await unsynced.create('/t/p=2/bucket-0/b', text('bbbb'))
  await unsynced.create('/t/p=2/bucket-0/c', text('cccc'))
  await unsynced.settle(['a', 'b', 'of another writer'])
  let lost = 0
  for (let seed = 0; seed < 40; seed++) {
    const after = fs.crash(seededRandom(seed))
    t.same(await after.readFile('/t/p=1/bucket-0/a'), text('aaaa'))
    t.same(await after.readFile('/t/p=2/bucket-0/b'), text('bbbb'))
    const c = await after.readFile('/t/p=2/bucket-0/c').catch(() => undefined)
    if (c === undefined || Buffer.compare(c, text('cccc')) !== 0) lost++
  }
  t.ok(lost > 0, 'one that was not settled may be lost')
})

t.test('a file whose sync failed is written again before it is synced again, and never missing', async (t) => {
  const memory = createMemoryFileSystem()
  let failing = true
  const fs = faultyFileSystem(memory, (_, call) => (failing && call === 'fsync /t/a' ? 'fail' : 'pass'))
  const unsynced = new Unsynced({ fs, random: seededRandom(1) })
  await unsynced.create('/t/a', text('aaaa'))
  await t.rejects(unsynced.settle(['a']), { code: 'IO', details: { path: '/t/a' } })
  // What the disk did not take is gone from memory, too, and the next sync would know nothing of it.
  memory.plant('/t/a', text('a?'))
  failing = false
  const calls = fs.calls.length
  await unsynced.settle(['a'])
  t.same(
    fs.calls.slice(calls).map((call) => call.replace(/\.a\..*/, '.a')),
    ['create /t/.a', 'rename /t/a', 'fsync /t/a', 'fsync /t'],
  )
  t.same(await memory.crash(seededRandom(3)).readFile('/t/a'), text('aaaa'))
  await unsynced.settle(['a'])
  t.equal(fs.calls.length, calls + 4, 'nothing is left to do')
})

t.test('a folder whose sync failed leaves its files unsettled; what is forgotten is not touched', async (t) => {
  let failing = true
  const fs = faultyFileSystem(createMemoryFileSystem(), (_, call) => (failing && call === 'fsync /t' ? 'fail' : 'pass'))
  const unsynced = new Unsynced({ fs, random: seededRandom(1) })
  await unsynced.create('/t/a', text('a'))
  await unsynced.create('/t/b', text('b'))
  await t.rejects(unsynced.settle(['a']), { code: 'IO' })
  failing = false
  unsynced.forget('b')
  const calls = fs.calls.length
  await unsynced.settle(['a', 'b'])
  t.same(fs.calls.slice(calls), ['fsync /t/a', 'fsync /t'])
})

t.test('no more files wait for their sync than may, those being written among them', async (t) => {
  const unsynced = new Unsynced({ fs: createMemoryFileSystem(), random: seededRandom(1) })
  const write = (name: string) => unsynced.admit(async () => unsynced.create(`/t/${name}`, text(name)).then(() => name))
  const names = Array.from({ length: 80 }, (_, at) => `f${at}`)
  const written = (await Promise.all(names.map(write))).filter((name) => name !== undefined)
  t.same(written, names.slice(0, 64))
  t.equal(await write('late'), undefined)
  unsynced.forget('f0')
  t.equal(await write('g'), 'g')
  await unsynced.settle([...written, 'g'])
  t.equal(await write('h'), 'h')
})
