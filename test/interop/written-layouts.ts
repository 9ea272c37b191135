import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import type { Json } from './support/json-lines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import type { Filter } from './support/oracle.ts'
import { check, inJava, type Part, part, roundAll, sameRows } from './support/part.ts'

type Options = Readonly<Record<string, string | number | boolean>>

/** What can be set of how files are laid out; each is written by us and read by all. */
const layouts: Readonly<Record<string, Options>> = {
  'as it comes': {},
  'two buckets, not compressed': { bucket: 2, 'file.compression': 'none' },
  'snappy, whole statistics, not dense': {
    'file.compression': 'snappy',
    'metadata.stats-mode': 'full',
    'metadata.stats-dense-store': false,
  },
  'gzip, null counts only': { 'file.compression': 'gzip', 'metadata.stats-mode': 'counts' },
  'lz4, no statistics': { 'file.compression': 'lz4', 'metadata.stats-mode': 'none' },
  'zstd level 9, no dictionary': {
    'file.compression': 'zstd',
    'file.compression.zstd-level': 9,
    'parquet.enable.dictionary': false,
  },
  'another codec and other statistics at each level': {
    'file.compression.per.level': '0:lz4,4:snappy,5:gzip',
    'metadata.stats-mode.per.level': '0:none,4:full',
  },
  'thin mode, no statistics, not dense': {
    'data-file.thin-mode': true,
    'metadata.stats-mode': 'none',
    'metadata.stats-dense-store': false,
  },
  'bounds of three characters': { 'metadata.stats-mode': 'truncate(3)', 'fields.amount.stats-mode': 'none' },
  'statistics of two columns': { 'metadata.stats-keep-first-n-columns': 2 },
  'several files in a run': { 'target-file-size': '8 kb' },
  'several files in a run, thin, two buckets': { 'target-file-size': '8 kb', 'data-file.thin-mode': true, bucket: 2 },
  'many row groups and pages': {
    'parquet.block.size': 8192,
    'parquet.page.size': 1024,
    'parquet.page.row.count.limit': 50,
  },
  'many pages': { 'parquet.page.row.count.limit': 50 },
  'merged manifests': { 'manifest.merge-min-count': 2, 'manifest.delete-file-drop-stats': true },
}

/** Whatever the layout, what we wrote at three levels is right, and read with and without filters. */
export async function checkWrittenLayouts(t: Test, engines: Engines): Promise<void> {
  for (const [title, options] of Object.entries(layouts)) {
    await part(t, engines, `files at levels 0, 4 and 5: ${title}`, (part) => threeLevels(part, options))
  }

  await part(t, engines, 'every snapshot of several compactions reads as it was', history)

  await part(t, engines, 'C068 manifests of several codecs in one table', manifestCodecs)

  await part(t, engines, 'partitions, several buckets, updates and deletes in each', partitions)
}

/** A table of some thousand bytes: keys out of order, text with repetitions, nulls, a NOT NULL column that deletes must fill. */
async function createTable(part: Part, name: string, options: Options): Promise<Mirror> {
  return Mirror.create(part.warehouse, name, {
    fields: {
      id: f.bigint(),
      name: f.string().nullable(),
      amount: f.decimal(20, 2),
      day: f.date().nullable(),
      note: f.string(),
      score: f.double().nullable(),
    },
    primaryKey: ['id'],
    options: { 'write-only': true, ...options },
  })
}

function rowOf(id: number, version: number): Row {
  const at = id * 31 + version * 7
  return {
    id: BigInt(id) * 10_000_000_007n - 5n,
    name: at % 5 === 0 ? null : `name ${at % 40}`,
    amount: `${(at % 900) - 450}.${String(at % 100).padStart(2, '0')}`,
    day: at % 11 === 0 ? null : (at % 20_000) - 3000,
    note: version === 0 ? `first note of ${id}` : `note ${version} of row ${id}, longer than a truncated bound`,
    score: at % 13 === 0 ? null : at / 8,
  }
}

function rows(from: number, to: number, version: number, step = 1): readonly Row[] {
  const list: Row[] = []
  for (let id = to - step; id >= from; id -= step) list.push(rowOf(id, version))
  return list
}

async function threeLevels(part: Part, options: Options): Promise<void> {
  const { t } = part
  const mirror = await createTable(part, 'layout.t', options)
  await mirror.commit(rows(0, 1200, 0))
  await mirror.table.compact({ full: true })
  for (const version of [1, 2, 3, 4]) {
    await mirror.commit(rows(version * 50, version * 50 + 40, version, 2), rows(version * 100, version * 100 + 9, 0, 3))
  }
  await mirror.table.compact()
  await mirror.commit(rows(1190, 1230, 5), rows(600, 603, 0))
  const levels = new Set(
    mirror.table.levels().flatMap(({ levels }) => levels.filter((l) => l.files > 0).map((l) => l.level)),
  )
  t.strictSame([...levels].sort(), [0, 4, 5])
  await check(part, mirror, 'three levels')
  await filters(part, mirror)
  const projected = await inJava(part, mirror).read({ columns: ['note', 'amount'] })
  const wanted = mirror.expected().map(({ note, amount }) => ({ note: note!, amount: amount! }))
  sameRows(t, projected, wanted, 'two columns by Java')
}

/** Java's own pruning by keys, statistics, row groups and pages of ours loses nothing. */
async function filters(part: Part, mirror: Mirror): Promise<void> {
  const all = mirror.expected()
  const tests: readonly (readonly [readonly Filter[], (row: (typeof all)[number]) => boolean])[] = [
    [[['id', '=', String(rowOf(60, 0).id)]], (row) => row.id === String(rowOf(60, 0).id)],
    [
      [
        ['id', '>=', String(rowOf(90, 0).id)],
        ['id', '<', String(rowOf(110, 0).id)],
      ],
      (row) =>
        BigInt(String(row.id)) >= 90n * 10_000_000_007n - 5n && BigInt(String(row.id)) < 110n * 10_000_000_007n - 5n,
    ],
    [[['name', '=', 'name 7']], (row) => row.name === 'name 7'],
    [[['note', '>', 'note 4']], (row) => String(row.note) > 'note 4'],
    [
      [
        ['amount', '<', '-440.00'],
        ['score', '>=', 2000],
      ],
      (row) => Number(row.amount) < -440 && Number(row.score) >= 2000,
    ],
    [
      [
        ['day', 'isNull'],
        ['score', '<', 500],
      ],
      (row) => row.day === null && row.score !== null && Number(row.score) < 500,
    ],
    [[['note', '=', 'no row has it']], () => false],
  ]
  for (const [filter, holds] of tests) {
    const found = roundAll(mirror, await inJava(part, mirror).read({ filter }))
    sameRows(part.t, found, all.filter(holds), `filtered by Java: ${JSON.stringify(filter)}`)
  }
}

async function history(part: Part): Promise<void> {
  const { t, python } = part
  const mirror = await createTable(part, 'layout.history', { 'num-sorted-run.compaction-trigger': 3, bucket: 2 })
  const java = inJava(part, mirror)
  const past = new Map<number, readonly Json[]>()
  const remember = async () => past.set((await mirror.table.snapshots()).at(-1)!.id, mirror.expected())
  for (let version = 0; version < 12; version++) {
    const from = (version * 37) % 200
    await mirror.commit(rows(from, from + 60, version), rows(from + 5, from + 30, 0, 4))
    await remember()
    if (version % 3 === 2) await mirror.table.compact({ full: version % 2 === 1 })
    if (version % 3 === 2) await remember()
    if (version === 7) {
      await mirror.table.expireSnapshots({ retainMax: 3, retainMin: 1, olderThan: Date.now() + 1000 })
      for (const id of past.keys()) if (id < (await mirror.table.snapshots())[0]!.id) past.delete(id)
    }
  }
  await check(part, mirror, 'at the end')
  t.ok(past.size >= 6)
  for (const [snapshot, rows] of past) {
    sameRows(t, await mirror.scan({ snapshot }), rows as never, `snapshot ${snapshot}, ours`)
    sameRows(t, roundAll(mirror, await java.read({ snapshot })), rows as never, `snapshot ${snapshot}, by Java`)
  }
  const [oldest] = past.keys()
  if (python === undefined) return
  const old = await python.readTable(mirror.warehouse, mirror.name, { 'scan.snapshot-id': `${oldest}` })
  sameRows(t, old, past.get(oldest!) as never, `snapshot ${oldest}, by pypaimon`)
}

async function manifestCodecs(part: Part): Promise<void> {
  const { t } = part
  const mirror = await createTable(part, 'layout.manifests', {})
  const java = inJava(part, mirror)
  const codecs = ['zstd', 'snappy', 'none', 'deflate']
  for (const [version, codec] of codecs.entries()) {
    await java.alter([{ setOption: { key: 'manifest.compression', value: codec } }])
    await mirror.reopen()
    await mirror.commit(rows(version * 10, version * 10 + 20, version), rows(0, 2, 0))
    const { problems } = await java.verify()
    t.strictSame(problems, [], codec)
  }
  await check(part, mirror, 'after four codecs')
}

async function partitions(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'layout.partitions', {
    fields: { region: f.string(), hour: f.smallint(), id: f.int(), v: f.string().nullable(), n: f.int() },
    primaryKey: ['id', 'region', 'hour'],
    partitionBy: ['region', 'hour'],
    options: { bucket: 3 },
  })
  const row = (i: number, version: number) => ({
    region: ['north', 'süd/öst', 'x=1%'][i % 3],
    hour: i % 2,
    id: i,
    v: i % 4 === 0 ? null : `${version}/${i}`,
    n: version,
  })
  for (let version = 0; version < 8; version++) {
    await mirror.put(Array.from({ length: 90 }, (_, i) => row(i + version * 11, version)))
    await mirror.delete(Array.from({ length: 10 }, (_, i) => row(i * 7 + version, 0)))
    await mirror.table.commit()
  }
  await check(part, mirror, 'as compaction left it')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'full compaction')
  const filtered = await inJava(part, mirror).read({
    filter: [
      ['region', '=', 'süd/öst'],
      ['hour', '=', 1],
      ['n', '<', 5],
    ],
  })
  const wanted = mirror.expected().filter((row) => row.region === 'süd/öst' && row.hour === 1 && Number(row.n) < 5)
  t.ok(wanted.length > 0)
  sameRows(t, filtered, wanted, 'one partition, filtered by Java')
}
