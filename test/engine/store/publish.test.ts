import t from 'tap'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { createUnique, publishOnce, replace } from '../../../engine/store/publish.ts'
import { failAt, faultyFileSystem } from '../../support/faulty-fs.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const text = (value: string) => new TextEncoder().encode(value)
const names = async (fs: MemoryFileSystem, folder: string) => (await fs.list(folder)).map(({ name }) => name).sort()

t.test('a published file is there after any power cut, and the temporary one is not seen', async (t) => {
  const fs = createMemoryFileSystem()
  const publisher = { fs, random: seededRandom(1) }
  t.equal(await publishOnce(publisher, '/t/snapshot/snapshot-1', text('one')), 'published')
  t.same(await names(fs, '/t/snapshot'), ['snapshot-1'])
  for (let seed = 0; seed < 20; seed++) {
    t.same(await fs.crash(seededRandom(seed)).readFile('/t/snapshot/snapshot-1'), text('one'))
  }
})

t.test('a taken name is reported and stays as it is', async (t) => {
  const fs = createMemoryFileSystem()
  const publisher = { fs, random: seededRandom(1) }
  fs.plant('/t/snapshot-1', text('theirs'))
  t.equal(await publishOnce(publisher, '/t/snapshot-1', text('ours')), 'taken')
  t.same(await fs.readFile('/t/snapshot-1'), text('theirs'))
  t.same(await names(fs, '/t'), ['snapshot-1'])
})

/** A folder is meant where a path ends; else all that begins so. */
const fails = (text: string, call: string) => (call.endsWith('/t') ? text === call : text.startsWith(call))

t.test('an error before the link publishes nothing; from the link on the outcome is unknown', async (t) => {
  for (const [call, unknown] of [
    ['create', false],
    ['fsync /t/', false],
    ['link', true],
    ['fsync /t', true],
  ] as const) {
    const fs = createMemoryFileSystem()
    await fs.makeDirectory('/t')
    const faulty = faultyFileSystem(fs, (_, text) => (fails(text, call) ? 'fail' : 'pass'), 'ENOSPC')
    const publishing = publishOnce({ fs: faulty, random: seededRandom(1) }, '/t/snapshot-1', text('x'))
    const error = await publishing.then(
      () => undefined,
      (error) => error,
    )
    t.match(error, { code: 'IO', details: { errno: 'ENOSPC' } }, call)
    t.equal(error.details.outcome === 'unknown', unknown, call)
    t.ok(
      (await names(fs, '/t')).every((name) => name === 'snapshot-1'),
      'no temporary file stays',
    )
  }
})

t.test('a link whose answer is lost is an unknown outcome, and the file is there', async (t) => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/t')
  const faulty = faultyFileSystem(fs, (_, text) => (text.startsWith('link') ? 'fail after' : 'pass'))
  const error = await publishOnce({ fs: faulty, random: seededRandom(1) }, '/t/snapshot-1', text('x')).catch((e) => e)
  t.equal(error.details.outcome, 'unknown')
  t.same(await names(fs, '/t'), ['snapshot-1'])
})

t.test('a file system without hard links is refused by name', async (t) => {
  const fs = createMemoryFileSystem()
  const faulty = faultyFileSystem(fs, (_, text) => (text.startsWith('link') ? 'fail' : 'pass'), 'ENOTSUP')
  await t.rejects(publishOnce({ fs: faulty, random: seededRandom(1) }, '/t/snapshot-1', text('x')), {
    code: 'UNSUPPORTED',
    message: /hard links/,
  })
})

t.test('a replaced file has the old bytes or the new ones after every failure and power cut', async (t) => {
  for (let call = 0; call < 3; call++) {
    const fs = createMemoryFileSystem()
    fs.plant('/t/LATEST', text('1'))
    const faulty = faultyFileSystem(fs, failAt(call))
    await t.rejects(replace({ fs: faulty, random: seededRandom(1) }, '/t/LATEST', text('2')), { code: 'IO' })
    for (let seed = 0; seed < 10; seed++) {
      const bytes = await fs.crash(seededRandom(seed)).readFile('/t/LATEST')
      t.ok(['1', '2'].includes(new TextDecoder().decode(bytes)))
    }
    t.ok((await names(fs, '/t')).includes('LATEST'))
  }
})

t.test('a durable replacement survives every power cut', async (t) => {
  const fs = createMemoryFileSystem()
  fs.plant('/t/EARLIEST', text('1'))
  await replace({ fs, random: seededRandom(1) }, '/t/EARLIEST', text('2'))
  for (let seed = 0; seed < 20; seed++) t.same(await fs.crash(seededRandom(seed)).readFile('/t/EARLIEST'), text('2'))
})

t.test('a unique file is created with its folder, and an existing one is not touched', async (t) => {
  const fs = createMemoryFileSystem()
  await createUnique(fs, '/t/manifest/manifest-1', text('a'))
  await t.rejects(createUnique(fs, '/t/manifest/manifest-1', text('b')), { code: 'IO', details: { errno: 'EEXIST' } })
  t.same(await fs.readFile('/t/manifest/manifest-1'), text('a'))
})
