import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createTag } from '../../engine/upkeep/tagging.ts'
import { listing, open, storeOf } from '../support/warehouses.ts'

const reader = fileURLToPath(new URL('../support/reader-process.ts', import.meta.url))
const NOBODY = 65534

/** Runs the reader as a user who may not write: root asks setpriv for another user, others take their own rights away. */
function readAs(path: string, mode: 'read' | 'write') {
  const node = [process.execPath, '--import', 'tsx', reader, path, mode]
  const command =
    process.getuid?.() === 0 ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', ...node] : node
  return spawnSync(command[0]!, command.slice(1), {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), TSX_DISABLE_CACHE: '1' },
  })
}

function noWay(): string | false {
  if (process.platform === 'win32') return 'needs permissions of POSIX'
  if (process.getuid?.() !== 0) return false
  const probe = spawnSync('setpriv', [`--reuid=${NOBODY}`, '--clear-groups', process.execPath, '-e', ''])
  return probe.status === 0 ? false : 'needs setpriv, or a user that is not root'
}

t.test(
  'C113 a table in a folder without write permission is read, and nothing is created',
  { skip: noWay() },
  async (t) => {
    const path = mkdtempSync(join(tmpdir(), 'lakelet-read-only-'))
    const folders = () => [
      path,
      ...readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((e) => e.isDirectory())
        .map((e) => join(e.parentPath, e.name)),
    ]
    t.teardown(() => {
      for (const folder of folders()) chmodSync(folder, 0o755)
      rmSync(path, { recursive: true })
    })
    const warehouse = await open(path)
    const table = await warehouse.createTable('db.t', { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] })
    for (const v of [1, 2]) {
      await table.put({ k: 1, v })
      await table.commit()
    }
    await warehouse.close()
    await createTag(await storeOf(path, 'db', 't'), nodeClock, 'one', { snapshot: 1 })
    for (const folder of folders()) chmodSync(folder, 0o555)
    const before = listing(path)

    const read = readAs(path, 'read')
    t.equal(read.status, 0, read.stderr)
    t.same(JSON.parse(read.stdout), {
      tables: ['db.t'],
      scan: [{ k: 1, v: 2 }],
      get: { k: 1, v: 2 },
      old: { k: 1, v: 1 },
      changes: [
        [1, '+I'],
        [2, '+I'],
      ],
    })
    t.same(listing(path), before)

    const write = readAs(path, 'write')
    t.match(
      JSON.parse(write.stdout),
      { code: 'IO', errno: /^(EACCES|EROFS|EPERM)$/, message: /permission/ },
      write.stderr,
    )
    t.same(listing(path), before)
  },
)
