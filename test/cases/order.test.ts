import t, { type Test } from 'tap'
import { publishSnapshot } from '../../engine/commit/publish-snapshot.ts'
import { t as types } from '../../engine/index.ts'
import { resolve } from '../../engine/options/resolve.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { nodeRandom } from '../../engine/ports/node-random.ts'
import { dataPathsOf, manifestWriter } from '../../engine/store/table-store.ts'
import { runTask } from '../../engine/tasks/run.ts'
import { newCancelFlag } from '../../engine/tasks/submit.ts'
import { batchOfRows } from '../../formats/column/values.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import { changesOf, shortly } from '../support/changes.ts'
import { collect, open, storeOf } from '../support/warehouses.ts'

type Row = Record<string, unknown>

/** Files of a table put together by hand: rows `[k, v]` with one sequence number, at a level. */
interface Placed {
  readonly level: number
  readonly sequence: number
  readonly rows: readonly (readonly [k: number, v: number])[]
}

/** Publishes a snapshot of `db.t` that adds such files. */
async function place(path: string, files: readonly Placed[]): Promise<void> {
  const store = await storeOf(path, 'db', 't')
  const schema = await store.schemas.latest()
  const partition = serializeRow([], [])
  const folder = dataPathsOf(store.paths, schema).bucketFolder(partition, 0)
  await store.fs.makeDirectory(folder)
  const context = { fs: store.fs, clock: nodeClock, codecs: loadCodecs() }
  const table = { path: store.paths.table, schema, olderSchemas: [], durable: false, tempDirectory: path }
  const written: DataFile[] = []
  for (const { level, sequence, rows } of files) {
    const values = batchOfRows(
      schema.fields,
      rows.map(([k, v]) => ({ k, v })),
    )
    const fileUuid = nodeRandom.uuid()
    const task = { kind: 'flush', table, folder, fileUuid, cancel: newCancelFlag() } as const
    const firstSequence = BigInt(sequence)
    const result = await runTask(
      { ...task, rows: { values, kinds: new Int8Array(rows.length), firstSequence } },
      context,
    )
    if (result.kind !== 'files') throw new Error('no files')
    written.push(...result.after.map((file) => ({ ...file, level })))
  }
  await publishSnapshot(
    {
      snapshots: store.snapshots,
      newestSchema: async () => schema,
      manifests: store.manifests,
      newManifestWriter: () => manifestWriter(store, schema),
      settle: async () => undefined,
      partitionFields: [],
      options: resolve(schema.options),
      clock: nodeClock,
      random: nodeRandom,
    },
    {
      kind: 'COMPACT',
      user: 'test',
      identifier: 1n,
      prepare: async () => ({
        files: written.map((file) => ({ kind: 'add', partition, bucket: 0, totalBuckets: 1, file })),
        changelog: [],
      }),
    },
  )
}

for (const options of [
  { 'changelog-producer': 'lookup' },
  { 'changelog-producer': 'lookup', 'merge-engine': 'partial-update' },
  { 'changelog-producer': 'none' },
] as Record<string, string>[]) {
  t.test(`C038 of equal sequence numbers the lower level counts: ${JSON.stringify(options)}`, async (t) => {
    const path = t.testdir()
    const before = await open(path)
    await before.createTable('db.t', {
      fields: { k: types.int(), v: types.int().nullable() },
      primaryKey: ['k'],
      options: { ...options, 'num-levels': 4 },
    })
    await before.close()
    // Runs of the one section mix levels: the files of 1 to 4 and 6 to 20 make one.
    await place(path, [
      {
        level: 2,
        sequence: 1,
        rows: [
          [1, 1],
          [3, 1],
          [4, 1],
        ],
      },
      {
        level: 1,
        sequence: 1,
        rows: [
          [1, 2],
          [3, 2],
          [8, 2],
        ],
      },
      { level: 1, sequence: 2, rows: [[21, 2]] },
      { level: 3, sequence: 1, rows: [[20, 1]] },
    ])
    await place(path, [
      {
        level: 0,
        sequence: 9,
        rows: [
          [6, 3],
          [20, 3],
        ],
      },
    ])
    const expected = [
      [1, 2],
      [3, 2],
      [4, 1],
      [6, 3],
      [8, 2],
      [20, 3],
      [21, 2],
    ]
    const warehouse = await open(path)
    const table = await warehouse.table('db.t')
    const check = async (when: string) => {
      t.same(
        (await collect(table.scan())).map(({ k, v }) => [k, v]),
        expected,
        `scan, ${when}`,
      )
      for (const [k, v] of expected) t.same(await table.get(k), { k, v }, `get ${k}, ${when}`)
    }
    await check('as it lies')
    await table.put({ k: 30, v: 3 })
    expected.push([30, 3])
    await check('with a row in memory')
    await table.commit()
    await check('after a commit')
    await table.compact({ full: true })
    await check('after a full compaction')
    if (options['changelog-producer'] === 'lookup') {
      const told = (await changesOf(table)).map(shortly).map((text) => text.replace(/^\d+ /, ''))
      t.same(told, ['+I 6 3', '-U 20 1', '+U 20 3', '+I 30 3'], 'no change of a key that was left alone')
    }
    await warehouse.close()
  })
}

/** A table `(k, v, q, r)` ordered by `order`, written without compactions. */
async function ordered(t: Test, order: Record<string, string>) {
  const warehouse = await open(t.testdir())
  t.teardown(() => warehouse.close({ discard: true }))
  const table = await warehouse.createTable('db.t', {
    fields: {
      k: types.int(),
      v: types.string().nullable(),
      q: types.int().nullable(),
      r: types.int().nullable(),
    },
    primaryKey: ['k'],
    options: { 'write-only': 'true', ...order },
  })
  const write = async (...mutations: readonly Row[]) => {
    await table.write(mutations as never)
    await table.commit()
  }
  const rows = async () => (await collect(table.scan())).map(({ k, v }) => [k, v])
  /** In one step and after a full compaction, by scan and by get. */
  const shows = async (expected: readonly (readonly [number, string])[]) => {
    for (const when of ['before', 'after']) {
      t.same(await rows(), expected, `${when} the full compaction`)
      for (const [k, v] of expected) t.match(await table.get(k), { v }, `get ${when}`)
      await table.compact({ full: true })
    }
  }
  return { table, write, rows, shows }
}

t.test('C039 a user sequence: nulls, ties, late records, deletes', async (t) => {
  const { write, shows } = await ordered(t, { 'sequence.field': 'q' })
  await write({ put: { k: 1, v: 'five', q: 5 } })
  await write({ put: { k: 1, v: null, q: null } })
  await write({ put: { k: 2, v: null, q: null } })
  await write({ put: { k: 2, v: 'neg', q: -7 } })
  await write({ put: { k: 3, v: 'a', q: null } })
  await write({ put: { k: 3, v: 'b', q: null } })
  await write({ put: { k: 4, v: 'x', q: 9 } }, { put: { k: 4, v: 'y', q: 9 } })
  await write({ delete: { k: 4, q: 8 } })
  await shows([
    [1, 'five'],
    [2, 'neg'],
    [3, 'b'],
    [4, 'y'],
  ])
})

t.test('C039 a user sequence of two fields', async (t) => {
  const { write, shows } = await ordered(t, { 'sequence.field': 'q,r' })
  await write({ put: { k: 1, v: 'a', q: 1, r: 9 } })
  await write({ put: { k: 1, v: 'b', q: 2, r: 1 } })
  await write({ put: { k: 1, v: 'c', q: 2, r: 0 } })
  await shows([[1, 'b']])
})

t.test('C039 a user sequence that descends', async (t) => {
  const { write, shows } = await ordered(t, { 'sequence.field': 'q', 'sequence.field.sort-order': 'descending' })
  await write({ put: { k: 1, v: 'a', q: 5 } })
  await write({ put: { k: 1, v: 'b', q: 3 } })
  await write({ put: { k: 1, v: 'c', q: 9 } })
  await shows([[1, 'b']])
})

t.test('C040 an older row stays out until a full compaction has dropped the delete', async (t) => {
  const { table, write, rows } = await ordered(t, { 'sequence.field': 'q' })
  await write({ put: { k: 1, v: 'v', q: 100 } })
  await write({ delete: { k: 1, q: 100 } })
  await write({ put: { k: 1, v: 'late', q: 50 } })
  t.same(await rows(), [])
  t.equal(await table.get(1), undefined)
  await table.compact({ full: true })
  t.same(await rows(), [])
  t.same(table.levels(), [], 'no files')
  await write({ put: { k: 1, v: 'late2', q: 50 } })
  t.same(await rows(), [[1, 'late2']])
})
