import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import type { Json } from './support/json-lines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import type { JsonRow, OracleTable } from './support/oracle.ts'
import { check, inJava, type Part, part } from './support/part.ts'

/** Java's system tables say of our tables what we say, and the statistics in our manifests are those of the records. */
export async function checkSystemTables(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'system tables of Java and our own figures agree', figures)
  await part(t, engines, 'manifest entries state exact figures of each file', entries)
}

function rowOf(i: number, version: number): Row {
  const at = i * 17 + version
  return {
    p: i % 3,
    k: `key ${i}`,
    n: at % 6 === 0 ? null : at,
    s: at % 4 === 0 ? null : `text ${at % 100} that is longer than sixteen`,
    b: at % 2 === 0,
    x: (at % 50) / 4,
  }
}

async function write(part: Part, name: string, options: Readonly<Record<string, string | number>>): Promise<Mirror> {
  const mirror = await Mirror.create(part.warehouse, name, {
    fields: {
      p: f.int(),
      k: f.string(),
      n: f.int().nullable(),
      s: f.string().nullable(),
      b: f.boolean(),
      x: f.double(),
    },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
    options: { bucket: 2, 'write-only': 'true', ...options },
  })
  for (let version = 0; version < 7; version++) {
    await mirror.put(Array.from({ length: 60 }, (_, i) => rowOf(i + version * 9, version)))
    await mirror.delete(Array.from({ length: 7 }, (_, i) => rowOf(i * 8 + version, 0)))
    await mirror.table.commit({ properties: { version: `${version}`, 'an é': '"' } })
    if (version === 0) await mirror.table.compact({ full: true })
    if (version === 5) await mirror.table.compact()
  }
  return mirror
}

async function figures(part: Part): Promise<void> {
  const { t } = part
  const mirror = await write(part, 'system.figures', {})
  const java = inJava(part, mirror)
  await check(part, mirror, 'written')

  const levels = mirror.table.levels().flatMap(({ partition, bucket, levels }) =>
    levels
      .filter(({ files }) => files > 0)
      .map(({ level, files, rows, bytes }) => ({
        partition,
        bucket,
        level,
        files,
        rows: Number(rows),
        bytes: Number(bytes),
      })),
  )
  t.ok(new Set(levels.map(({ level }) => level)).size >= 2, 'files at several levels')
  const files = await java.system('files')
  t.strictSame(
    sums(files, (file) => [folder(file), file.bucket!, file.level!], 'record_count', 'file_size_in_bytes'),
    [
      ...levels.map(({ partition, bucket, level, files, rows, bytes }) => ({
        key: [partition, bucket, level],
        files,
        rows,
        bytes,
      })),
    ].sort(byKey),
    '$files and levels()',
  )

  const snapshots = await mirror.table.snapshots()
  t.strictSame(
    (await java.system('snapshots')).map((row) => [
      row.snapshot_id,
      row.schema_id,
      row.commit_user,
      Number(row.commit_identifier),
      row.commit_kind,
      Date.parse(`${row.commit_time}Z`),
      row.total_record_count,
      row.delta_record_count,
    ]),
    snapshots.map((snapshot) => [
      snapshot.id,
      snapshot.schemaId,
      snapshot.user,
      Number(snapshot.identifier),
      snapshot.kind,
      snapshot.timeMillis,
      Number(snapshot.totalRecords),
      Number(snapshot.deltaRecords),
    ]),
    '$snapshots and snapshots()',
  )
  t.strictSame(snapshots[0]!.properties, { version: '0', 'an é': '"' })

  const partitions = await java.system('partitions')
  t.strictSame(
    partitions
      .map((row) => ({
        key: [row.partition!],
        files: row.file_count,
        rows: row.record_count,
        bytes: row.file_size_in_bytes,
      }))
      .sort(byKey),
    sums(files, (file) => [folder(file)], 'record_count', 'file_size_in_bytes'),
    '$partitions and the files',
  )
  t.equal(partitions.length, 3)
  t.strictSame(
    (await java.system('options')).filter(({ key }) => key === 'write-only'),
    [{ key: 'write-only', value: 'true' }],
    '$options',
  )
  t.strictSame(
    (await java.system('schemas')).map(({ schema_id, primary_keys, partition_keys }) => [
      schema_id,
      primary_keys,
      partition_keys,
    ]),
    [[0, '["p","k"]', '["p"]']],
    '$schemas',
  )
}

/** Partition folder of a row of `$files`. */
function folder(file: JsonRow): string {
  return `p=${String(file.partition).replace(/[^\d]/g, '')}`
}

interface Sum {
  readonly key: readonly Json[]
  files: number
  rows: number
  bytes: number
}

function sums(list: readonly JsonRow[], keyOf: (row: JsonRow) => readonly Json[], rows: string, bytes: string): Sum[] {
  const found = new Map<string, Sum>()
  for (const row of list) {
    const key = keyOf(row)
    const sum = found.get(JSON.stringify(key)) ?? { key, files: 0, rows: 0, bytes: 0 }
    found.set(JSON.stringify(key), sum)
    sum.files++
    sum.rows += Number(row[rows])
    sum.bytes += Number(row[bytes])
  }
  return [...found.values()].sort(byKey)
}

function byKey(a: { readonly key: readonly Json[] }, b: { readonly key: readonly Json[] }): number {
  return JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1
}

async function entries(part: Part): Promise<void> {
  const { t } = part
  const mirror = await write(part, 'system.entries', { 'metadata.stats-mode': 'full' })
  const java = inJava(part, mirror)
  const records = await recordsByFile(java)
  for (const entry of await java.entries()) {
    const list = records.get(String(entry.fileName))!
    const sequences = list.map(({ sequence }) => BigInt(String(sequence)))
    const deletes = list.filter(({ kind }) => kind === '-D').length
    const keys = list.map(({ key }) => (key as JsonRow).k as string)
    t.strictSame(
      [
        entry.rowCount,
        entry.deleteRowCount,
        entry.minSequenceNumber,
        entry.maxSequenceNumber,
        entry.minKey,
        entry.maxKey,
      ],
      [
        list.length,
        deletes,
        `${least(sequences)}`,
        `${greatest(sequences)}`,
        { k: least(keys) },
        { k: greatest(keys) },
      ],
      `rows, deletes, sequences and keys of ${entry.fileName}`,
    )
    t.strictSame(
      entry.keyStats,
      { min: { k: least(keys) }, max: { k: greatest(keys) }, nullCount: [0] },
      'key statistics',
    )
    const stats = entry.valueStats as { min: JsonRow; max: JsonRow; nullCount: readonly number[] }
    for (const [i, { name }] of mirror.fields.entries()) {
      const values = list.map(({ value }) => (value as JsonRow)[name]!)
      const known = values.filter((value) => value !== null) as (number | string | boolean)[]
      t.strictSame(
        [stats.min[name], stats.max[name], stats.nullCount[i]],
        [
          known.length === 0 ? null : least(known),
          known.length === 0 ? null : greatest(known),
          values.length - known.length,
        ],
        `statistics of ${name}`,
      )
    }
  }
}

async function recordsByFile(java: OracleTable): Promise<ReadonlyMap<string, readonly JsonRow[]>> {
  const found = new Map<string, JsonRow[]>()
  for (const record of await java.records()) {
    const file = String(record.file)
    const list = found.get(file) ?? []
    found.set(file, list)
    list.push(record)
  }
  return found
}

function least<T extends bigint | number | string | boolean>(list: readonly T[]): T {
  return sorted(list)[0]!
}

function greatest<T extends bigint | number | string | boolean>(list: readonly T[]): T {
  return sorted(list).at(-1)!
}

function sorted<T extends bigint | number | string | boolean>(list: readonly T[]): readonly T[] {
  return [...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
