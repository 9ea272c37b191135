import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import { check, inJava, javaWrites, type Part, part } from './support/part.ts'

/** Node and Java write, compact, expire and alter one table in turns; after each step both see the same rows. */
export async function checkTurns(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'Java compacts and expires a table of ours, and we go on writing', javaMaintains)
  await part(t, engines, 'we compact and expire a table of Java, and Java goes on writing', weMaintain)
  await part(t, engines, 'twenty commits in turns, with automatic compaction on both sides', twentyCommits)
  await part(t, engines, 'Java adds, renames, widens and drops columns of our table', javaAlters)
}

const fields = { k: f.int(), v: f.string().nullable(), n: f.bigint(), d: f.decimal(10, 2).nullable() }

function rowOf(k: number, version: number): Row {
  return {
    k,
    v: (k + version) % 6 === 0 ? null : `${version} of ${k}`,
    n: BigInt(version) * 1_000_000_000_000n + BigInt(k),
    d: (k + version) % 4 === 0 ? null : `${k}.${String(version % 100).padStart(2, '0')}`,
  }
}

const rows = (from: number, count: number, version: number) =>
  Array.from({ length: count }, (_, i) => rowOf(from + i, version))

async function javaMaintains(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'turns.ours', {
    fields,
    primaryKey: ['k'],
    options: { bucket: 2, 'write-only': true },
  })
  const java = inJava(part, mirror)
  await mirror.commit(rows(0, 200, 0))
  for (let version = 1; version < 6; version++)
    await mirror.commit(rows(version * 20, 30, version), rows(version * 3, 2, 0))
  await java.compact()
  await mirror.table.refresh()
  await check(part, mirror, 'compacted by Java')
  await mirror.commit(rows(10, 20, 6), rows(100, 5, 0))
  await check(part, mirror, 'written after the compaction of Java')
  await java.compact({ full: true })
  await java.expire({ retainMax: 1, retainMin: 1 })
  await mirror.table.refresh()
  t.equal((await mirror.table.snapshots()).length, 1)
  await check(part, mirror, 'compacted fully and expired by Java')
  await mirror.commit(rows(190, 30, 7), rows(0, 3, 0))
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'written and compacted by us')
  t.strictSame(await java.orphans(), [], 'no file is left that nothing names')
}

async function weMaintain(part: Part): Promise<void> {
  const { t } = part
  const java = part.java.table(part.warehouse.path, 'turns.javas')
  await java.create({
    fields: [
      { name: 'k', type: 'INT NOT NULL' },
      { name: 'v', type: 'STRING' },
      { name: 'n', type: 'BIGINT NOT NULL' },
      { name: 'd', type: 'DECIMAL(10, 2)' },
    ],
    primaryKeys: ['k'],
    options: { bucket: '2' },
  })
  const mirror = await Mirror.open(part.warehouse, 'turns.javas')
  await javaWrites(part, mirror, rows(0, 200, 0))
  await mirror.table.refresh()
  for (let version = 1; version < 4; version++)
    await javaWrites(part, mirror, rows(version * 20, 30, version), rows(version * 3, 2, 0))
  await mirror.table.compact()
  await check(part, mirror, 'compacted by us')
  await javaWrites(part, mirror, rows(10, 20, 6), rows(100, 5, 0))
  await mirror.table.refresh()
  await check(part, mirror, 'written by Java after our compaction')
  await mirror.table.compact({ full: true })
  const { expired } = await mirror.table.expireSnapshots({ retainMax: 1, retainMin: 1, olderThan: Date.now() + 1000 })
  t.ok(expired.length > 3)
  await check(part, mirror, 'compacted fully and expired by us')
  await javaWrites(part, mirror, rows(190, 30, 7), rows(0, 3, 0))
  await java.compact({ full: true })
  await mirror.table.refresh()
  await check(part, mirror, 'written and compacted by Java')
  await mirror.commit(rows(5, 3, 8), rows(50, 3, 0))
  await check(part, mirror, 'written by us')
  t.strictSame(await java.orphans(), [], 'no file is left that nothing names')
}

async function twentyCommits(part: Part): Promise<void> {
  const mirror = await Mirror.create(part.warehouse, 'turns.twenty', {
    fields,
    primaryKey: ['k'],
    options: {
      bucket: 2,
      'num-sorted-run.compaction-trigger': 3,
    },
  })
  await mirror.commit(rows(0, 100, 0))
  for (let version = 1; version <= 20; version++) {
    if (version === 10) await mirror.table.expireSnapshots({ retainMax: 2, retainMin: 1 })
    if (version === 15) await inJava(part, mirror).expire({ retainMax: 2, retainMin: 1 })
    const [put, gone] = [rows((version * 13) % 90, 15, version), rows((version * 29) % 100, 3, 0)]
    if (version % 2 === 0) await mirror.commit(put, gone)
    else {
      await javaWrites(part, mirror, put, gone)
      await mirror.table.refresh()
    }
    if (version % 5 === 0 || version < 3) await check(part, mirror, `after commit ${version}`)
  }
  await mirror.table.compact({ full: true })
  await mirror.reopen()
  await check(part, mirror, 'reopened')
}

async function javaAlters(part: Part): Promise<void> {
  const mirror = await Mirror.create(part.warehouse, 'turns.altered', {
    fields: { k: f.int(), a: f.int(), b: f.string().nullable(), c: f.float().nullable() },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const java = inJava(part, mirror)
  const before = Array.from({ length: 60 }, (_, k) => ({ k, a: k - 30, b: k % 5 === 0 ? null : `b${k}`, c: k / 4 }))
  await mirror.commit(before.slice(0, 40))
  await mirror.table.compact({ full: true })
  await mirror.commit(before.slice(30))

  await java.alter([
    { addColumn: { name: 'e', type: 'STRING', after: 'k' } },
    { renameColumn: { from: 'b', to: 'bb' } },
    { updateType: { name: 'a', type: 'BIGINT NOT NULL' } },
    { updateType: { name: 'c', type: 'DOUBLE' } },
  ])
  await mirror.reopen()
  mirror.holds(before.map(({ k, a, b, c }) => ({ k, e: null, a: BigInt(a), bb: b, c })))
  await check(part, mirror, 'old files under the new schema')
  await mirror.commit(
    Array.from({ length: 20 }, (_, i) => ({ k: i * 4, e: `e${i}`, a: 2n ** 40n + BigInt(i), bb: `bb${i}`, c: 0.1 })),
    [{ k: 1 }, { k: 59 }],
  )
  await check(part, mirror, 'old and new files')
  await javaWrites(part, mirror, [{ k: 100, e: 'java', a: -1n, bb: null, c: 1e300 }], [])
  await mirror.table.refresh()
  await mirror.table.compact()
  await check(part, mirror, 'after a compaction over schemas')

  await java.alter([{ dropColumn: 'bb' }, { addColumn: { name: 'bb', type: 'INT' } }, { moveFirst: 'c' }])
  const kept = mirror.rows().map((row) => ({ ...row, bb: null }))
  await mirror.reopen()
  mirror.holds(kept)
  await check(part, mirror, 'a dropped column that came back is empty')
  await mirror.commit([{ k: 7, c: null, e: null, a: 0n, bb: 7 }])
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'fully compacted')
}
