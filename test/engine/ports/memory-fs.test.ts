import t from 'tap'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { fileSystemContract } from '../../contract/file-system.ts'
import { seededRandom } from '../../support/seeded-random.ts'

fileSystemContract('memory', async () => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/root')
  return { fs, root: '/root' }
})

const text = (value: string) => new TextEncoder().encode(value)
const cuts = 40

t.test('a synced file in a synced folder survives every power cut', async (t) => {
  const fs = createMemoryFileSystem()
  const sink = fs.createSink('/t/p=1/bucket-0/data')
  sink.write(text('rows'))
  sink.sync()
  for (let seed = 0; seed < cuts; seed++) {
    t.same(await fs.crash(seededRandom(seed)).readFile('/t/p=1/bucket-0/data'), text('rows'))
  }
})

t.test('bytes that were not synced are lost in part, whole or to zeros', async (t) => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/t')
  await fs.createFile('/t/a', text('rows'), { sync: false })
  await fs.syncDirectory('/t')
  const seen = new Set<string>()
  for (let seed = 0; seed < cuts; seed++) {
    seen.add(new TextDecoder().decode(await fs.crash(seededRandom(seed)).readFile('/t/a')))
  }
  for (const outcome of ['', 'r', 'rows', '\0\0\0\0']) t.ok(seen.has(outcome), JSON.stringify(outcome))
})

t.test('a name that was not synced may be gone, and a removed one may be back', async (t) => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/t')
  await fs.createFile('/t/old', text('1'), { sync: true })
  await fs.syncDirectory('/t')
  await fs.createFile('/t/new', text('2'), { sync: true })
  await fs.unlink('/t/old')
  const seen = new Set<string>()
  for (let seed = 0; seed < cuts; seed++) {
    const listed = await fs.crash(seededRandom(seed)).list('/t')
    seen.add(
      listed
        .map(({ name }) => name)
        .sort()
        .join(),
    )
  }
  t.same([...seen].sort(), ['', 'new', 'new,old', 'old'])
})

t.test('a rename is whole or not at all', async (t) => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/t')
  await fs.createFile('/t/hint', text('1'), { sync: true })
  await fs.createFile('/t/temp', text('2'), { sync: true })
  await fs.syncDirectory('/t')
  await fs.rename('/t/temp', '/t/hint')
  const seen = new Set<string>()
  for (let seed = 0; seed < cuts; seed++) {
    const cut = fs.crash(seededRandom(seed))
    const hint = new TextDecoder().decode(await cut.readFile('/t/hint'))
    seen.add(`${hint} ${(await cut.list('/t')).length}`)
  }
  t.same([...seen].sort(), ['1 2', '2 1'])
})

t.test('a hard link stays one file after a power cut, and the first file system goes on', async (t) => {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/t')
  await fs.createFile('/t/a', text('x'), { sync: true })
  await fs.link('/t/a', '/t/b')
  await fs.syncDirectory('/t')
  const cut = fs.crash(seededRandom(1))
  await fs.unlink('/t/a')
  t.same(await cut.readFile('/t/a'), text('x'))
  cut.setModified('/t/a', 5)
  t.equal((await cut.stat('/t/b'))?.modifiedMillis, 5)
})

t.test('open handles are counted', async (t) => {
  const fs = createMemoryFileSystem()
  const sink = fs.createSink('/a')
  const source = fs.openSource('/a')
  t.equal(fs.openHandles, 2)
  for (const handle of [sink, source, sink]) handle.close()
  t.equal(fs.openHandles, 0)
})
