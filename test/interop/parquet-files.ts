import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import type { JsonRow } from './support/oracle.ts'
import { check, type Part, part, sameRows } from './support/part.ts'
import { digitsOf } from './support/python.ts'

const codecs = ['none', 'snappy', 'gzip', 'lz4', 'zstd']

/** Our data files are plain Parquet files: pyarrow and DuckDB read a fully compacted table from them. */
export async function checkParquetFiles(t: Test, engines: Engines): Promise<void> {
  for (const codec of codecs) {
    await part(t, engines, `C055 pyarrow and DuckDB read our data files, ${codec}`, (part) => readFiles(part, codec))
  }
}

function rowOf(k: number): Row {
  return {
    k,
    big: BigInt(k - 5000) * 900_719_925_474_099n,
    text: k % 7 === 0 ? null : `text ${k % 1000} é`,
    x: k % 11 === 0 ? null : (k - 5000) / 3,
    at: k % 5 === 0 ? null : BigInt(k - 5000) * 1_000_000_007n,
    amount: `${k - 5000}.${String(k % 100).padStart(2, '0')}`,
    yes: k % 3 === 0 ? null : k % 2 === 0,
    day: k - 5000,
    blob: Uint8Array.of(k & 255, k >> 8),
    list: k % 9 === 0 ? null : Array.from({ length: k % 4 }, (_, i) => (i === 1 ? null : k + i)),
  }
}

async function readFiles(part: Part, codec: string): Promise<void> {
  const { t, python } = part
  const mirror = await Mirror.create(part.warehouse, 'parquet.files', {
    fields: {
      k: f.int(),
      big: f.bigint(),
      text: f.string().nullable(),
      x: f.double().nullable(),
      at: f.timestamp(6).nullable(),
      amount: f.decimal(12, 2),
      yes: f.boolean().nullable(),
      day: f.date(),
      blob: f.bytes(),
      list: f.array(f.int().nullable()).nullable(),
    },
    primaryKey: ['k'],
    options: {
      bucket: 2,
      'write-only': true,
      'file.compression': codec,
      'target-file-size': '64 kb',
      'parquet.block.size': 65_536,
      'parquet.page.size': 8192,
    },
  })
  const count = codec === 'zstd' ? 10_000 : 1500
  const rows = Array.from({ length: count }, (_, k) => rowOf(k))
  await mirror.commit(rows.slice(0, count * 0.7))
  await mirror.commit(rows.slice(count / 2))
  await mirror.table.compact({ full: true })
  if (codec === 'zstd') await check(part, mirror, 'by Java and pypaimon')
  if (python === undefined) return

  const files = dataFiles(mirror)
  t.ok(files.length >= 2)
  const live = new Set(
    (await part.java.table(mirror.warehouse, mirror.name).entries()).map(({ fileName }) => String(fileName)),
  )
  const paths = files.filter((path) => [...live].some((name) => path.endsWith(name)))
  t.equal(paths.length, live.size)
  const digits = digitsOf(mirror.fields, 6)
  for (const engine of ['pyarrow', 'duckdb'] as const) {
    const found: JsonRow[] = []
    for (const path of paths) found.push(...(await python.readParquet(engine, path, digits)))
    sameRows(t, found.map(withoutOwnColumns), mirror.expected(), `rows by ${engine}`)
  }
  for (const path of paths) {
    const { problems, statistics, indexes } = await python.checkParquet(path)
    t.strictSame(problems, [], 'pyarrow: page checksums hold, statistics are true')
    t.ok(statistics > 0 && indexes > 0, `${statistics} statistics, ${indexes} page indexes`)
  }
  if (codec === 'none') {
    const bytes = readFileSync(paths[0]!)
    bytes[bytes.length >> 2]! ^= 1
    const damaged = join(part.warehouse.path, 'damaged.parquet')
    writeFileSync(damaged, bytes)
    await t.rejects(python.checkParquet(damaged), { message: /CRC|checksum/i }, 'pyarrow sees one flipped bit')
  }
  const list = paths.map((path) => `'${path}'`).join(', ')
  const [counts] = await python.query(
    `SELECT count(*) AS n, count(text) AS text, count(list) AS list, sum(k) AS k FROM read_parquet([${list}], hive_partitioning = false)`,
  )
  const not = (column: string) => rows.filter((row) => row[column] !== null).length
  t.strictSame(
    [counts!.n, counts!.text, counts!.list, Number(counts!.k)],
    [`${count}`, `${not('text')}`, `${not('list')}`, (count * (count - 1)) / 2],
    'DuckDB counts',
  )
  const filtered = await python.query(
    `SELECT k FROM read_parquet([${list}], hive_partitioning = false) WHERE big BETWEEN ${rowOf(700).big} AND ${rowOf(709).big} AND text IS NOT NULL ORDER BY k`,
  )
  t.strictSame(
    filtered.map(({ k }) => k),
    [701, 702, 703, 704, 705, 706, 708, 709],
    'DuckDB filters by statistics',
  )
}

/** Without the columns that a primary-key table adds. */
function withoutOwnColumns(row: JsonRow): JsonRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_')))
}

function dataFiles(mirror: Mirror): readonly string[] {
  return readdirSync(mirror.folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .map((file) => join(mirror.folder, file))
}
