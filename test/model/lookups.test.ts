import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { type Table, t as types, type Warehouse } from '../../engine/index.ts'
import { changesOf } from '../support/changes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { markedFiles, rowsLeft } from '../support/vectors.ts'
import { collect, open, storeOf } from '../support/warehouses.ts'

// MODEL_SEED repeats the histories of another day.
const seed = Number(process.env.MODEL_SEED ?? 11)

const KEYS = 60
const STEPS = 50

type Options = Record<string, string | number | boolean>

/** Tables whose compactions look rows up, and what a put does to the value of its key. */
const shapes: readonly { readonly name: string; readonly options: Options; readonly sums?: true }[] = [
  { name: 'deletion vectors', options: { 'deletion-vectors.enabled': true } },
  {
    name: 'deletion vectors of 64 bits, small files and pages',
    options: {
      'deletion-vectors.enabled': true,
      'deletion-vectors.bitmap64': true,
      'target-file-size': '2 kb',
      'parquet.page.row.count.limit': 4,
      'sort-spill-threshold': 2,
    },
  },
  {
    name: 'deletion vectors, buckets, and the producer lookup',
    options: { 'deletion-vectors.enabled': true, 'changelog-producer': 'lookup', bucket: 3 },
  },
  {
    name: 'deletion vectors and sums',
    options: {
      'deletion-vectors.enabled': true,
      'merge-engine': 'aggregation',
      'fields.v.aggregate-function': 'sum',
    },
    sums: true,
  },
  { name: 'the producer lookup', options: { 'changelog-producer': 'lookup', 'target-file-size': '2 kb' } },
  {
    name: 'the producer lookup, equal rows left out',
    options: { 'changelog-producer': 'lookup', 'changelog-producer.row-deduplicate': true },
  },
  {
    name: 'the producer lookup and sums',
    options: {
      'changelog-producer': 'lookup',
      'merge-engine': 'aggregation',
      'fields.v.aggregate-function': 'sum',
      'num-sorted-run.compaction-trigger': 3,
    },
    sums: true,
  },
  { name: 'forced lookups', options: { 'force-lookup': true } },
]

for (const [index, { name, options, sums }] of shapes.entries()) {
  t.test(`${name}: a table does what a Map does, whenever it is compacted`, async (t) => {
    const random = seededRandom(seed * 100 + index)
    const below = (limit: number) => Math.floor(random.fraction() * limit)
    const folder = t.testdir()
    let warehouse: Warehouse = await open(folder)
    const definition = {
      fields: { k: types.int(), v: types.int().nullable(), s: types.string().nullable() },
      primaryKey: ['k'] as const,
      options: { 'snapshot.num-retained.min': 1000, 'snapshot.num-retained.max': 2000, ...options },
    }
    let table = (await warehouse.createTable('db.t', definition)) as unknown as Table
    const store = await storeOf(folder, 'db', 't')
    const model = new Map<number, number>()
    const committed = new Map<number, ReadonlyMap<number, number>>()
    let version = 0
    const sorted = (map: ReadonlyMap<number, number>) => [...map].sort(([a], [b]) => a - b)
    const scan = async (of: Parameters<Table['scan']>[0] = {}) =>
      (await collect(table.scan(of))).map(({ k, v }) => [k, v])
    const same = (found: unknown, wanted: unknown, what: string) => {
      if (isDeepStrictEqual(found, wanted)) return
      t.strictSame(found, wanted, `${what}, seed ${seed}`)
      throw new Error(what)
    }
    const commit = async () => {
      const { id } = await table.commit()
      if (id === undefined) return
      committed.set(id, new Map(model))
      const reader = await open(folder, { readOnly: true })
      const other = (await reader.table('db.t')) as Table
      same(
        (await collect(other.scan())).map(({ k, v }) => [k, v]),
        sorted(model),
        `rows of another handle, snapshot ${id}`,
      )
      await reader.close()
      const marked = await markedFiles(store)
      if (options['deletion-vectors.enabled']) same(rowsLeft(marked), model.size, 'rows that are not marked')
    }
    for (let step = 0; step < STEPS; step++) {
      const what = below(12)
      if (what < 5) {
        const from = below(KEYS)
        const rows = Array.from({ length: 1 + below(20) }, (_, i) => ({
          k: (from + i * (1 + below(2))) % KEYS,
          v: options['changelog-producer.row-deduplicate'] ? below(3) : ++version,
          s: `${version}`.repeat(below(8)),
        }))
        await table.put(rows)
        for (const { k, v } of rows) model.set(k, sums ? (model.get(k) ?? 0) + v : v)
      } else if (what < 7 && !sums) {
        const gone = Array.from({ length: 1 + below(6) }, () => below(KEYS))
        await table.delete(gone.map((k) => ({ k })))
        for (const k of gone) model.delete(k)
      } else if (what < 10) await commit()
      else if (what === 10) await table.compact({ full: below(2) === 0 })
      else {
        await commit()
        await warehouse.close()
        warehouse = await open(folder)
        table = (await warehouse.table('db.t')) as Table
      }
      same(await scan(), sorted(model), `step ${step}: scan`)
      const [low, high] = [below(KEYS), below(KEYS)]
      const within = sorted(model).filter(([k]) => k >= low && k < high)
      same(await scan({ range: { gte: { k: low }, lt: { k: high } } }), within, `step ${step}: range`)
      const odd = sorted(model).filter(([, v]) => v > 20)
      same(await scan({ where: { v: { gt: 20 } } } as never), odd, `step ${step}: where`)
      const keys = Array.from({ length: 10 }, () => below(KEYS + 5))
      const found = await table.getMany(keys.map((k) => ({ k })))
      same(
        found.map((row) => row?.v),
        keys.map((k) => model.get(k)),
        `step ${step}: getMany`,
      )
      same((await table.get({ k: low }))?.v, model.get(low), `step ${step}: get`)
    }
    await commit()
    for (const [id, content] of committed) same(await scan({ snapshot: id }), sorted(content), `snapshot ${id}`)
    if (options['changelog-producer'] === 'lookup') {
      const replayed = new Map<number, number>()
      for (const { kind, row } of await changesOf(table)) {
        const { k, v } = row as { k: number; v: number }
        if (kind === '-U' || kind === '-D') {
          same(replayed.get(k), v, `${kind} of key ${k}`)
          replayed.delete(k)
        } else {
          same(replayed.has(k), false, `${kind} of key ${k}, which is there`)
          replayed.set(k, v)
        }
      }
      same(sorted(replayed), sorted(model), 'changes, replayed')
    }
    await warehouse.close()
    t.strictSame(await unnamedFiles(store), [], 'no file is left that nothing names')
  })
}
