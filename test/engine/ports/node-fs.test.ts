import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { fileSystemContract } from '../../contract/file-system.ts'

async function open(sync: boolean) {
  const root = await mkdtemp(join(tmpdir(), 'lakelet-fs-'))
  const done = () => rm(root, { recursive: true, force: true })
  return { fs: createNodeFileSystem({ sync }), root, done }
}

fileSystemContract('node', () => open(true))
fileSystemContract('node without sync', () => open(false))

t.test('a file whose write fails is not left behind', async (t) => {
  const { fs, root, done } = await open(true)
  t.teardown(done)
  // A value that cannot be written fails after the file was created.
  await t.rejects(fs.createFile(`${root}/a`, { length: 1 } as unknown as Uint8Array, { sync: true }))
  t.same(await readdir(root), [])
})

t.test('a folder that was removed and made again is synced again', async (t) => {
  const { fs, root, done } = await open(true)
  t.teardown(done)
  for (const round of [1, 2]) {
    const sink = fs.createSink(`${root}/bucket-0/data`)
    sink.sync()
    sink.close()
    await fs.unlink(`${root}/bucket-0/data`)
    await fs.removeDirectory(`${root}/bucket-0`)
    t.pass(`round ${round}`)
  }
})

t.test('reading creates nothing', async (t) => {
  const { fs, root, done } = await open(true)
  t.teardown(done)
  await t.rejects(fs.readFile(`${root}/x/y`), { code: 'ENOENT' })
  await t.rejects(fs.list(`${root}/x`), { code: 'ENOENT' })
  t.throws(() => fs.openSource(`${root}/x/y`), { code: 'ENOENT' })
  t.same(await readdir(root), [])
})

t.test('reads in a loop leave turns to the rest of the process', async (t) => {
  const fs = createNodeFileSystem({ sync: false })
  const path = `${t.testdir({ file: 'bytes' })}/file`
  for (const call of [() => fs.stat(path), () => fs.readFile(path)]) {
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    const end = performance.now() + 10_000
    while (turns < 3 && performance.now() < end) await call()
    clearInterval(counting)
    t.equal(turns, 3)
  }
})
