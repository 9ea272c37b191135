import t, { type Test } from 'tap'
import type { FileSystem } from '../../engine/ports/file-system.ts'

const text = (value: string) => new TextEncoder().encode(value)
const names = async (fs: FileSystem, path: string) => (await fs.list(path)).map(({ name }) => name).sort()

/**
 * The promises of the `FileSystem` port, run over every implementation. `open` gives a file system and an empty folder of it.
 */
export function fileSystemContract(
  label: string,
  open: () => Promise<{ readonly fs: FileSystem; readonly root: string; readonly done?: () => Promise<void> }>,
): void {
  const promise = (name: string, body: (fs: FileSystem, root: string, t: Test) => Promise<void>) =>
    t.test(`${label}: ${name}`, async (t) => {
      const { fs, root, done } = await open()
      t.teardown(() => done?.())
      await body(fs, root, t)
    })

  promise('a created file holds its bytes and is never created twice', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('one'), { sync: true })
    t.same(await fs.readFile(`${root}/a`), text('one'))
    await t.rejects(fs.createFile(`${root}/a`, text('two'), { sync: false }), { code: 'EEXIST' })
    t.same(await fs.readFile(`${root}/a`), text('one'), 'the failed call did not touch it')
  })

  promise('a file read is a plain Uint8Array of its own', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('abc'), { sync: false })
    const bytes = await fs.readFile(`${root}/a`)
    t.equal(Object.getPrototypeOf(bytes), Uint8Array.prototype)
    bytes.fill(0)
    t.same(await fs.readFile(`${root}/a`), text('abc'))
  })

  promise('what is absent is ENOENT, and undefined for stat', async (fs, root, t) => {
    await t.rejects(fs.readFile(`${root}/none`), { code: 'ENOENT' })
    await t.rejects(fs.unlink(`${root}/none`), { code: 'ENOENT' })
    await t.rejects(fs.list(`${root}/none`), { code: 'ENOENT' })
    await t.rejects(fs.removeDirectory(`${root}/none`), { code: 'ENOENT' })
    await t.rejects(fs.rename(`${root}/none`, `${root}/b`), { code: 'ENOENT' })
    await t.rejects(fs.link(`${root}/none`, `${root}/b`), { code: 'ENOENT' })
    await t.rejects(fs.createFile(`${root}/no/folder`, text(''), { sync: false }), { code: 'ENOENT' })
    await t.rejects(fs.realPath(`${root}/none`), { code: 'ENOENT' })
    t.throws(() => fs.openSource(`${root}/none`), { code: 'ENOENT' })
    t.equal(await fs.stat(`${root}/none`), undefined)
    t.equal(await fs.stat(`${root}/none/below`), undefined)
  })

  promise('link never replaces, and the link outlives the first name', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('new'), { sync: true })
    await fs.createFile(`${root}/b`, text('old'), { sync: true })
    await t.rejects(fs.link(`${root}/a`, `${root}/b`), { code: 'EEXIST' })
    t.same(await fs.readFile(`${root}/b`), text('old'))
    await fs.link(`${root}/a`, `${root}/c`)
    await fs.unlink(`${root}/a`)
    t.same(await fs.readFile(`${root}/c`), text('new'))
  })

  promise('rename replaces', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('new'), { sync: true })
    await fs.createFile(`${root}/b`, text('old'), { sync: true })
    await fs.rename(`${root}/a`, `${root}/b`)
    t.same(await names(fs, root), ['b'])
    t.same(await fs.readFile(`${root}/b`), text('new'))
  })

  promise('a folder can be renamed with all it holds', async (fs, root, t) => {
    await fs.makeDirectory(`${root}/x/y`)
    await fs.createFile(`${root}/x/y/a`, text('1'), { sync: false })
    await fs.rename(`${root}/x`, `${root}/z`)
    t.same(await names(fs, root), ['z'])
    t.same(await fs.readFile(`${root}/z/y/a`), text('1'))
  })

  promise('folders are made with their parents, twice is fine, and only empty ones go', async (fs, root, t) => {
    await fs.makeDirectory(`${root}/x/y/z`)
    await fs.makeDirectory(`${root}/x/y/z`)
    await t.rejects(fs.removeDirectory(`${root}/x/y`), { code: 'ENOTEMPTY' })
    await fs.removeDirectory(`${root}/x/y/z`)
    t.same(await fs.list(`${root}/x/y`), [])
    t.same(await fs.list(`${root}/x`), [{ name: 'y', kind: 'directory' }])
  })

  promise('list tells files from folders', async (fs, root, t) => {
    await fs.makeDirectory(`${root}/d`)
    await fs.createFile(`${root}/f`, text(''), { sync: false })
    const entries = [...(await fs.list(root))].sort((a, b) => (a.name < b.name ? -1 : 1))
    t.same(entries, [
      { name: 'd', kind: 'directory' },
      { name: 'f', kind: 'file' },
    ])
    await t.rejects(fs.list(`${root}/f`), { code: 'ENOTDIR' })
  })

  promise('stat gives the length', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('four'), { sync: false })
    t.equal((await fs.stat(`${root}/a`))?.bytes, 4)
  })

  promise('names with spaces, #, % and beyond ASCII are kept as they are', async (fs, root, t) => {
    const name = 'my dir #1 %20 é 雪'
    await fs.createFile(`${root}/${name}`, text('x'), { sync: false })
    t.same(await names(fs, root), [name])
    t.equal(await fs.realPath(`${root}/./${name}`), `${await fs.realPath(root)}/${name}`)
  })

  promise('a sink appends, makes its folders, and copies what it is given', async (fs, root, t) => {
    const sink = fs.createSink(`${root}/p=1/bucket-0/data`)
    const reused = new Uint8Array(100_000).fill(1)
    sink.write(reused.subarray(0, 10))
    reused.fill(2)
    sink.write(reused)
    reused.fill(3)
    sink.write(reused.subarray(0, 5))
    t.equal(sink.bytesWritten, 100_015)
    sink.sync()
    sink.close()
    sink.close()
    const bytes = await fs.readFile(`${root}/p=1/bucket-0/data`)
    t.equal(bytes.length, 100_015)
    t.ok(bytes.subarray(0, 10).every((byte) => byte === 1))
    t.ok(bytes.subarray(10, 100_010).every((byte) => byte === 2))
    t.ok(bytes.subarray(100_010).every((byte) => byte === 3))
    t.throws(() => sink.write(reused), { code: 'EBADF' })
    t.throws(() => fs.createSink(`${root}/p=1/bucket-0/data`), { code: 'EEXIST' })
  })

  promise('a sink closed without sync has written all', async (fs, root, t) => {
    const sink = fs.createSink(`${root}/a`)
    sink.write(text('abc'))
    sink.close()
    t.same(await fs.readFile(`${root}/a`), text('abc'))
  })

  promise('a source reads ranges, and nothing past the end', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('0123456789'), { sync: false })
    const source = fs.openSource(`${root}/a`)
    t.equal(source.bytes, 10)
    t.same(new Uint8Array(source.read(3, 4)), text('3456'))
    t.same(new Uint8Array(source.read(0, 10)), text('0123456789'))
    t.same(new Uint8Array(source.read(10, 0)), text(''))
    t.throws(() => source.read(8, 3), RangeError)
    t.throws(() => source.read(-1, 3), RangeError)
    source.close()
    source.close()
    t.throws(() => source.read(0, 1), { code: 'EBADF' })
  })

  promise('an open source outlives its name', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('still here'), { sync: false })
    const source = fs.openSource(`${root}/a`)
    await fs.unlink(`${root}/a`)
    t.same(new Uint8Array(source.read(0, 10)), text('still here'))
    source.close()
  })

  promise('a file can be synced after it was created', async (fs, root, t) => {
    await fs.createFile(`${root}/a`, text('abc'), { sync: false })
    await t.resolves(fs.syncFile(`${root}/a`))
    t.same(await fs.readFile(`${root}/a`), text('abc'))
  })

  promise('a file is read whole, whatever its size', async (fs, root, t) => {
    for (const size of [0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300_000]) {
      const bytes = new Uint8Array(size).map((_, at) => at * 7)
      await fs.createFile(`${root}/${size}`, bytes, { sync: true })
      t.equal(Buffer.compare(await fs.readFile(`${root}/${size}`), bytes), 0, `${size} bytes`)
    }
  })

  promise('a folder can be synced', async (fs, root, t) => {
    await t.resolves(fs.syncDirectory(root))
  })
}
