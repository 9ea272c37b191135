import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { collect, liveFiles, open, openAlone, refused, storeOf } from '../support/warehouses.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = fileURLToPath(new URL('../support/committing-process.ts', import.meta.url))
const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

t.test(
  'C103 C077 after SIGKILL every commit that resolved is there, and the table opens at once',
  { timeout: 120_000 },
  async (t) => {
    const path = t.testdir()
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
    t.comment(`SEED=${seed}`)
    const random = seededRandom(seed)
    let next = 0
    for (let round = 0; round < 10; round++) {
      const child = spawn(process.execPath, ['--import', 'tsx', program, path, String(next)], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const target = next + 1 + Math.floor(random.fraction() * 8)
      let printed = ''
      for await (const chunk of child.stdout) {
        printed += chunk
        if (printed.trim().split('\n').length >= target - next) child.kill('SIGKILL')
      }
      const batches = printed
        .split('\n')
        .filter((line) => line !== '')
        .map(Number)
      const last = batches.at(-1)!
      const warehouse = openAlone(path)
      const table = await warehouse.table('db.t')
      const counts = new Map<unknown, number>()
      for await (const { v } of table.scan()) counts.set(v, (counts.get(v) ?? 0) + 1)
      const found = [...counts.keys()].map(Number).sort((a, b) => a - b)
      t.same([...new Set(counts.values())], [100], `round ${round}: no batch is there in part`)
      t.ok(
        found.length === last + 1 || found.length === last + 2,
        `round ${round}: ${last + 1} printed, ${found.length} there`,
      )
      t.same(
        found,
        Array.from({ length: found.length }, (_, i) => i),
      )
      await warehouse.close()
      next = found.length
    }
  },
)

/** Why this machine cannot show the system calls of a process, or false. */
function noTrace(): string | false {
  const probe = spawnSync('strace', ['-f', '-qq', '-o', '/dev/null', process.execPath, '-e', ''])
  return probe.status === 0 ? false : 'needs strace, and the right to use it'
}

/** Why this machine cannot give a test a small disk of its own, or false. */
function noDisk(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, to mount a tmpfs'
  const path = mkdtempSync(join(tmpdir(), 'lakelet-probe-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', path]).status === 0
  if (mounted) spawnSync('umount', ['-l', path])
  rmSync(path, { recursive: true })
  return mounted ? false : 'needs the right to mount a tmpfs'
}

t.test(
  'C104 a durable commit syncs each file and folder before the name that makes them visible',
  { skip: noTrace(), timeout: 60_000 },
  async (t) => {
    const path = join(t.testdir(), 'w')
    const trace = join(t.testdirName, 'trace')
    const run = spawnSync(
      'strace',
      [
        '-f',
        '-y',
        '-qq',
        '-o',
        trace,
        '-e',
        'trace=openat,write,pwrite64,fsync,fdatasync,rename,renameat2,link,linkat',
        process.execPath,
        '--import',
        'tsx',
        program,
        path,
        '0',
        '1',
        'fsync',
      ],
      { cwd: root, encoding: 'utf8' },
    )
    t.equal(run.status, 0, run.stderr)
    const lines = readFileSync(trace, 'utf8').split('\n')
    const all = lines.map((line, at) => ({ at, line }))
    const first = (...parts: readonly (string | RegExp)[]) =>
      all.find(({ line }) => parts.every((part) => (typeof part === 'string' ? line.includes(part) : part.test(line))))
        ?.at ?? -1
    const last = (...parts: readonly (string | RegExp)[]) =>
      all.findLast(({ line }) =>
        parts.every((part) => (typeof part === 'string' ? line.includes(part) : part.test(line))),
      )?.at ?? -1
    const link = first(/^\d+ +link(at)?\(/, /snapshot-1"/)
    t.ok(link > 0, 'the snapshot is published by link')
    const sync = (part: RegExp, what: string) => {
      const at = first(/f(data)?sync\(/, part)
      t.ok(at > 0 && at < link, `${what} is synced at ${at}, before the link at ${link}`)
      return at
    }
    sync(/bucket-\d+\/data-[^>]*>/, 'a data file')
    sync(/bucket-\d+>/, 'the folder of a new bucket')
    sync(/manifest\/manifest-(?!list)[^>]*>/, 'the manifest')
    sync(/manifest\/manifest-list-[^>]*>/, 'a manifest list')
    sync(/\/manifest>/, 'the manifest folder')
    sync(/snapshot\/\.snapshot-1[^>]*>/, 'the temporary file of the snapshot')
    const folder =
      all.find(({ at, line }) => at > link && /f(data)?sync\(/.test(line) && /\/snapshot>/.test(line))?.at ?? -1
    const answered = last(/write\(1/, '"0\\n"')
    t.ok(
      folder > link && answered > folder,
      `the snapshot folder is synced at ${folder}, then the promise resolves at ${answered}`,
    )
    for (const kind of ['data-', 'manifest-']) {
      const written = new Set(
        lines
          .flatMap((line) => /write(?:64)?\(\d+<([^>]+)>/.exec(line)?.[1] ?? [])
          .filter((file) => basename(file).startsWith(kind)),
      )
      for (const file of written)
        t.ok(
          first(/f(data)?sync\(/, `<${file}>`) > last(/write/, `<${file}>`),
          `${basename(file)} is synced after its last write`,
        )
    }
  },
)

t.test(
  'C112 C111 a full disk: the commit and the compaction are refused, nothing half stands, and the same handle goes on',
  { skip: noDisk() },
  async (t) => {
    const path = mkdtempSync(join(tmpdir(), 'lakelet-disk-'))
    t.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', path]).status, 0)
    t.teardown(() => {
      spawnSync('umount', ['-l', path])
      rmSync(path, { recursive: true })
    })
    const warehouse = await open(path)
    const table = await warehouse.createTable('db.t', {
      fields: { k: types.int(), s: types.string() },
      primaryKey: ['k'],
      options: { 'write-only': 'true' },
    })
    const random = seededRandom(112)
    const text = () =>
      Array.from({ length: 100 }, () => String.fromCharCode(33 + Math.floor(random.fraction() * 90))).join('')
    const batch = (from: number) => Array.from({ length: 8000 }, (_, i) => ({ k: from + i, s: text() }))
    for (const from of [0, 4000, 8000, 12_000]) {
      await table.put(batch(from))
      await table.commit()
    }
    const ballast = join(path, 'ballast')
    const fill = () => {
      for (let bytes = 1 << 20; bytes >= 4096; bytes /= 2) {
        for (;;) {
          try {
            writeFileSync(ballast, Buffer.alloc(bytes), { flag: 'a' })
          } catch {
            break
          }
        }
      }
    }
    fill()
    const store = await storeOf(path, 'db', 't')
    const sum = async () => (await collect(table.scan())).length
    t.equal(await sum(), 20_000)
    await refused(t, table.compact({ full: true }), 'IO', { errno: 'ENOSPC' }, 'ENOSPC')
    t.equal(await sum(), 20_000, 'the scan is complete')
    await table.put({ k: 50_000, s: 'new' })
    await refused(t, table.commit(), 'IO', { errno: 'ENOSPC' }, 'ENOSPC')
    t.same(await store.snapshots.allIds(), [1, 2, 3, 4], 'no snapshot stands half')
    t.same(await table.get(50_000), { k: 50_000, s: 'new' }, 'the row is kept')
    t.equal(await table.get(50_000, { snapshot: 4 }), undefined)
    rmSync(ballast)
    t.match(await table.commit(), { id: 5, created: true })
    await table.compact({ full: true })
    t.equal(await sum(), 20_001)
    const names = (await liveFiles(store)).map(({ file }) => file.name)
    const onDisk = (await store.fs.list(join(store.paths.table, 'bucket-0'))).map(({ name }) => name)
    await table.expireSnapshots({ retainMax: 1 })
    t.same(
      (await store.fs.list(join(store.paths.table, 'bucket-0'))).map(({ name }) => name).sort(),
      names.sort(),
      `only live files of ${onDisk.length}`,
    )
    await warehouse.close()
  },
)

t.test('C096 a data file that cannot be written is not left behind, and no other file is touched', async (t) => {
  const path = t.testdir()
  const { createNodeFileSystem } = await import('../../engine/ports/node-fs.ts')
  const real = createNodeFileSystem({ sync: false })
  let failing = false
  const fs: typeof real = {
    ...real,
    createSink(file) {
      const sink = real.createSink(file)
      if (!failing) return sink
      return {
        ...sink,
        get bytesWritten() {
          return sink.bytesWritten
        },
        write() {
          throw Object.assign(new Error('EIO: injected'), { code: 'EIO', syscall: 'write' })
        },
      }
    },
  }
  const warehouse = openAlone(path, { fs, smallTasks: false })
  const table = await warehouse.createTable('db.t', definition)
  const bucket = join(path, 'db.db', 't', 'bucket-0')
  mkdirSync(bucket, { recursive: true })
  writeFileSync(join(bucket, 'data-mine.parquet'), 'mine')
  failing = true
  await table.put({ k: 1, v: 1 })
  await refused(t, table.commit(), 'IO', { errno: 'EIO' }, 'EIO', 'data-')
  t.same(
    (await real.list(bucket)).map(({ name }) => name),
    ['data-mine.parquet'],
  )
  failing = false
  t.match(await table.commit(), { created: true, id: 1 })
  t.equal(readFileSync(join(bucket, 'data-mine.parquet'), 'utf8'), 'mine')
  await warehouse.close()
})

t.test('C103 the table of a killed process is written on by another', async (t) => {
  const path = t.testdir()
  const child = spawn(process.execPath, ['--import', 'tsx', program, path, '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const warehouse = await open(path)
  const table = await warehouse.table('db.t')
  await table.put({ k: 0, v: -1 })
  await table.commit()
  await table.compact({ full: true })
  t.same(await table.get(0), { k: 0, v: -1 })
  await warehouse.close()
})
