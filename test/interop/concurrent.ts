import type { Test } from 'tap'
import { t as f, type SnapshotInfo } from '../../engine/index.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { nodeRandom } from '../../engine/ports/node-random.ts'
import { inlineExecutor } from '../../engine/tasks/submit.ts'
import { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { Engines } from './support/engines.ts'
import { type Definition, Mirror, type Row } from './support/mirror.ts'
import { check, inJava, javaWrites, type Part, part } from './support/part.ts'

/** Node and Java at work on one table at the same time. */
export async function checkConcurrency(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'C037 a writer that was open for long and commits last wins over Java', longOpenWriter)
  await part(t, engines, 'C070 a full compaction of Java lands during ours: ours is dropped', javaCompactsDuringOurs)
  await part(t, engines, 'C072 rows that Java commits during our compaction stay', javaWritesDuringOurCompaction)
  await part(t, engines, 'Node and Java commit to one bucket as fast as they can', race)
}

const definition: Definition = {
  fields: { k: f.int(), v: f.int() },
  primaryKey: ['k'],
  options: { bucket: 1, 'write-only': true },
}

async function longOpenWriter(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'concurrent.open', definition)
  await mirror.commit([{ k: 0, v: 0 }])
  await mirror.put([{ k: 5, v: 5 }])
  for (let v = 100; v < 105; v++) await javaWrites(part, mirror, [{ k: 1, v }])
  await mirror.put([{ k: 1, v: 999 }])
  await mirror.table.commit()
  await check(part, mirror, 'committed last')
  t.strictSame(mirror.expectedAt({ k: 1 }), { k: 1, v: 999 })
  await javaWrites(part, mirror, [{ k: 1, v: 1000 }])
  await mirror.table.refresh()
  await check(part, mirror, 'a fresh writer of Java after that')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
}

/** A warehouse whose tasks call `during` before their result is taken: what happens in other processes meanwhile. */
async function interrupted(part: Part, during: () => Promise<void>): Promise<Warehouse> {
  const fs = createNodeFileSystem({ sync: false })
  const codecs = loadCodecs()
  const inner = inlineExecutor(async () => ({
    fs,
    clock: nodeClock,
    codecs,
    pause: () => new Promise<void>((done) => setImmediate(done)),
  }))
  const warehouse = new Warehouse(part.warehouse.path, {
    fs,
    clock: nodeClock,
    random: nodeRandom,
    codecs,
    executor: {
      threads: 0,
      async run(task, options) {
        const result = await inner.run(task, options)
        if (task.kind === 'compact') await during()
        return result
      },
      close: () => inner.close(),
    },
    readOnly: false,
    durable: false,
    tempDirectory: part.t.testdirName,
    cacheBytes: 2 ** 20,
    states: new Map(),
    logger: undefined,
  })
  part.t.teardown(() => warehouse.close({ discard: true }))
  return warehouse
}

async function javaCompactsDuringOurs(part: Part): Promise<void> {
  const { t } = part
  let compactions = 0
  const warehouse = await interrupted(part, async () => {
    if (compactions++ === 0) await java.compact({ full: true })
  })
  const mirror = await Mirror.create(warehouse, 'concurrent.compactions', definition)
  const java = inJava(part, mirror)
  for (let v = 0; v < 3; v++) await mirror.commit([{ k: 1, v }])
  const conflicts: string[] = []
  mirror.table.on('conflict', ({ reason }) => conflicts.push(reason))
  await mirror.table.compact({ full: true }).catch((error: Error) => conflicts.push(error.message))
  t.ok(compactions > 0)
  await check(part, mirror, 'after both')
  t.match(conflicts.join('\n'), /./, 'the loser says so')
  const files = await java.system('files')
  t.strictSame(
    files.map(({ level, record_count, min_sequence_number, max_sequence_number }) => [
      level,
      record_count,
      min_sequence_number,
      max_sequence_number,
    ]),
    [[5, 1, 2, 2]],
  )
  t.strictSame(await java.orphans(), [], 'the loser leaves no file behind')
  await mirror.commit([{ k: 2, v: 2 }])
  await check(part, mirror, 'written on')
}

async function javaWritesDuringOurCompaction(part: Part): Promise<void> {
  const { t } = part
  let compactions = 0
  const meanwhile = [
    { k: 1, v: 666 },
    { k: 2, v: 7 },
  ]
  const warehouse = await interrupted(part, async () => {
    if (compactions++ === 0) await javaWrites(part, mirror, meanwhile)
  })
  const mirror: Mirror = await Mirror.create(warehouse, 'concurrent.writes', definition)
  const java = inJava(part, mirror)
  for (let v = 0; v < 3; v++) await mirror.commit([{ k: 1, v }])
  await mirror.table.compact({ full: true })
  t.equal(compactions, 1)
  await mirror.table.refresh()
  await check(part, mirror, 'after both')
  t.strictSame((await java.system('files')).map(({ level, record_count }) => [level, record_count]).sort(), [
    [0, 2],
    [5, 1],
  ])
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted once more')
}

/**
 * Java looks whether a snapshot exists and then renames over it, so on a local disk it may replace one of ours between the two.
 * Nothing else may be lost, and nothing may be there by half.
 */
async function race(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'concurrent.race', {
    ...definition,
    options: { bucket: 1, 'num-sorted-run.compaction-trigger': 3, 'snapshot.num-retained.min': 100 },
  })
  const commits = 12
  const rowsOf = (who: number, i: number): Row[] => [
    { k: who + i, v: i },
    { k: who + 500 + i, v: i },
  ]
  const java = inJava(part, mirror)
  const published: SnapshotInfo[] = []
  const ours = async () => {
    for (let i = 0; i < commits; i++) {
      await mirror.put(rowsOf(1000, i))
      const { snapshots } = await mirror.table.commit()
      published.push(snapshots[0]!)
    }
  }
  const javas = async () => {
    for (let i = 0; i < commits; i++) {
      const rows = rowsOf(2000, i)
      // Its own compactions would fail on ours, and the write with them.
      await java.write(
        rows.map((row) => ({ row: mirror.json(row) })),
        { writeOnly: true },
      )
      mirror.holds(rows)
    }
  }
  await Promise.all([ours(), javas()])
  await mirror.reopen() // ends work in the background
  const snapshots = new Map((await java.system('snapshots')).map((snapshot) => [snapshot.snapshot_id, snapshot]))
  const rows = await mirror.scan()
  for (const [i, { id, user }] of published.entries()) {
    const there = rows.filter(({ k }) => k === 1000 + i || k === 1500 + i)
    if (there.length > 0) continue
    t.not(snapshots.get(id)?.commit_user, user, `Java replaced snapshot ${id}`)
    mirror.lacks(rowsOf(1000, i))
  }
  await check(part, mirror, 'after the race')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
}
