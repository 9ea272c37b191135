import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
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

async function race(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'concurrent.race', {
    ...definition,
    fields: { k: f.int(), v: f.string() },
    options: {
      bucket: 1,
      'num-sorted-run.compaction-trigger': 3,
      'snapshot.num-retained.min': 2,
      'snapshot.num-retained.max': 4,
    },
  })
  await mirror.commit([{ k: -1, v: 'first' }])
  const row = (who: string, k: number, i: number): Row => ({ k, v: `${who} ${i}` })
  const java = inJava(part, mirror)
  const ours = async () => {
    for (let i = 0; i < 12; i++) await mirror.commit([row('node', 1000 + i, i), row('node', 500, i)], [{ k: 999 + i }])
  }
  const javas = async () => {
    for (let i = 0; i < 12; i++) {
      const rows = [row('java', 2000 + i, i), row('java', 500, i)]
      const lines = [
        ...rows.map((row) => ({ row: mirror.json(row) })),
        { kind: '-D' as const, row: mirror.json({ k: 1999 + i, v: '' }) },
      ]
      // Its own compactions would fail on ours, and the write with them.
      await java.write(lines, { writeOnly: true })
    }
  }
  await Promise.all([ours(), javas()])
  await mirror.reopen() // ends work in the background
  const shared = (await mirror.scan()).find(({ k }) => k === 500)!
  t.ok(['node 11', 'java 11'].includes(String(shared.v)), `the last commit of one of them: ${shared.v}`)
  mirror.holds([row('java', 2011, 11), { k: 500, v: shared.v }])
  await check(part, mirror, 'after the race')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
}
