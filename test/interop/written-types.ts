import type { Test } from 'tap'
import { type Fields, t as f } from '../../engine/index.ts'
import { withNullable } from '../../formats/types/row-type.ts'
import type { Engines } from './support/engines.ts'
import { type Definition, Mirror, type Row } from './support/mirror.ts'
import type { JsonRow } from './support/oracle.ts'
import { check, inJava, type Part, part } from './support/part.ts'
import { sampleAt, samples } from './support/samples.ts'
import { roundFloats } from './support/values.ts'

/** Every type but VARIANT and MULTISET, in the precisions that change how it is stored, NOT NULL. */
const plainTypes = {
  f_boolean: f.boolean(),
  f_tinyint: f.tinyint(),
  f_smallint: f.smallint(),
  f_int: f.int(),
  f_bigint: f.bigint(),
  f_float: f.float(),
  f_double: f.double(),
  f_dec5: f.decimal(5, 2),
  f_dec9: f.decimal(9, 9),
  f_dec10: f.decimal(10, 0),
  f_dec18: f.decimal(18, 6),
  f_dec19: f.decimal(19, 2),
  f_dec38: f.decimal(38, 10),
  f_char: f.char(8),
  f_varchar: f.varchar(20),
  f_string: f.string(),
  f_binary: f.binary(4),
  f_varbinary: f.varbinary(20),
  f_bytes: f.bytes(),
  f_date: f.date(),
  f_time0: f.time(0),
  f_time3: f.time(3),
  f_ts0: f.timestamp(0),
  f_ts3: f.timestamp(3),
  f_ts4: f.timestamp(4),
  f_ts6: f.timestamp(6),
  f_ltz0: f.timestampLtz(0),
  f_ltz3: f.timestampLtz(3),
  f_ltz6: f.timestampLtz(6),
} satisfies Fields

const nestedTypes = {
  n_ints: f.array(f.int().nullable()),
  n_texts: f.array(f.string()),
  n_arrays: f.array(f.array(f.bigint().nullable()).nullable()),
  n_map: f.map(f.string(), f.bigint().nullable()),
  n_map_of_rows: f.map(f.int(), f.row({ a: f.decimal(30, 5).nullable(), b: f.array(f.date()).nullable() }).nullable()),
  n_row: f.row({ x: f.int().nullable(), y: f.string().nullable(), z: f.timestamp(6).nullable() }),
  n_deep: f.row({
    r: f.row({ m: f.map(f.string(), f.array(f.double().nullable())).nullable() }).nullable(),
    s: f.boolean(),
  }),
} satisfies Fields

/** Kept as INT96; pypaimon cuts them to microseconds when it merges. */
const nanoTypes = {
  f_ts7: f.timestamp(7),
  f_ts9: f.timestamp(9),
  f_ltz8: f.timestampLtz(8),
  f_ltz9: f.timestampLtz(9),
} satisfies Fields

const keyTypes = {
  k_bool: f.boolean(),
  k_tiny: f.tinyint(),
  k_small: f.smallint(),
  k_int: f.int(),
  k_big: f.bigint(),
  k_float: f.float(),
  k_double: f.double(),
  k_dec: f.decimal(10, 2),
  k_dec30: f.decimal(30, 5),
  k_char: f.char(3),
  k_str: f.string(),
  k_bin: f.binary(3),
  k_bytes: f.bytes(),
  k_date: f.date(),
  k_time: f.time(3),
  k_ts3: f.timestamp(3),
  k_ts6: f.timestamp(6),
  k_ltz3: f.timestampLtz(3),
} satisfies Fields

const allNullable = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.nullable()]))

/** Files of ours hold every type, and every engine reads them. */
export async function checkWrittenTypes(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'nullable columns of all types, nested too', (part) =>
    writeAll(part, 'types.nullable', {
      fields: { id: f.int(), ...allNullable(plainTypes), ...allNullable(nestedTypes) },
      primaryKey: ['id'],
      options: { bucket: 2 },
    }),
  )

  await part(t, engines, 'NOT NULL columns of all types, with deletes', (part) =>
    writeAll(part, 'types.not_null', {
      fields: { id: f.int(), ...plainTypes, ...nestedTypes },
      primaryKey: ['id'],
    }),
  )

  await part(t, engines, 'TIMESTAMP(7..9), by Java alone', (part) =>
    writeAll(
      part,
      'types.nanos',
      {
        fields: {
          id: f.int(),
          ...nanoTypes,
          ...suffixed(allNullable(nanoTypes)),
          a: f.array(f.timestamp(9)).nullable(),
        },
        primaryKey: ['id'],
      },
      'TIMESTAMP(7..9) in a merge',
    ),
  )

  for (const thin of [false, true]) {
    await part(t, engines, `keys of 18 types${thin ? ', thin mode' : ''}`, (part) =>
      writeKeys(part, `types.keys_${thin ? 'thin' : 'plain'}`, {
        fields: { ...keyTypes, v: f.string().nullable() },
        primaryKey: Object.keys(keyTypes),
        options: { bucket: 3, 'data-file.thin-mode': thin },
      }),
    )
  }

  for (const [name, field] of Object.entries({ ...keyTypes, k_ts9: f.timestamp(9), k_dec38: f.decimal(38, 38) })) {
    await part(t, engines, `a key of one column, ${name}`, (part) =>
      writeKeys(
        part,
        `types.key_${name}`,
        { fields: { [name]: field, v: f.string().nullable() }, primaryKey: [name], options: { bucket: 2 } },
        name === 'k_ts9' ? 'TIMESTAMP(9)' : undefined,
      ),
    )
  }
}

function suffixed(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${name}_null`, field]))
}

/** Rows of samples: inserts, updates, deletes, read from level 0, after a compaction below others, and fully compacted. */
async function writeAll(part: Part, name: string, definition: Definition, notInPython?: string): Promise<void> {
  const mirror = await Mirror.create(part.warehouse, name, {
    ...definition,
    options: { 'num-sorted-run.compaction-trigger': 4, 'write-only': false, ...definition.options },
  })
  const options = notInPython === undefined ? {} : { notInPython }
  await mirror.put(Array.from({ length: 35 }, (_, id) => rowOf(mirror, id, id)))
  await mirror.table.commit()
  await mirror.put([3, 4, 5, 40].map((id) => rowOf(mirror, id, id + 3)))
  await mirror.delete([6, 7, 99].map((id) => ({ id })))
  await mirror.table.commit()
  await check(part, mirror, 'level 0', options)

  await mirror.table.compact({ full: true })
  await check(part, mirror, 'full compaction', options)

  await mirror.put([0, 1, 2, 50].map((id) => rowOf(mirror, id, id + 5)))
  await mirror.delete([8, 9].map((id) => ({ id })))
  await mirror.table.commit()
  await check(part, mirror, 'level 0 over level 3', options)
}

/** Row `id` whose columns hold the samples number `i`, each column shifted by one so that rows are not all alike. */
function rowOf(mirror: Mirror, id: number, i: number): Row {
  return Object.fromEntries(
    mirror.fields.map(({ name, type }, column) =>
      name === 'id' ? [name, id] : [name, sampleAt(type, samples(type), i + (column % 3))],
    ),
  )
}

/**
 * Keys of samples, some in the highest level, some above it. Java finds each record in the bucket that it computes, and each
 * key by a point lookup.
 */
async function writeKeys(part: Part, name: string, definition: Definition, notInPython?: string): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, name, definition)
  const java = inJava(part, mirror)
  const keyFields = mirror.fields.filter((field) => mirror.primaryKey.includes(field.name))
  const values = keyFields.map((field) => samples(withNullable(field.type, false), true))
  const count = keyFields.length === 1 ? values[0]!.length : 40
  const rows = Array.from({ length: count }, (_, i) => ({
    ...Object.fromEntries(keyFields.map((field, k) => [field.name, values[k]![(i + k) % values[k]!.length]])),
    v: `v${i}`,
  }))
  await mirror.put(rows)
  await mirror.table.commit()
  await mirror.table.compact({ full: true })
  await mirror.delete(rows.slice(0, 1))
  await mirror.put(rows.slice(1, 3).map((row) => ({ ...row, v: null })))
  await mirror.table.commit()
  await check(part, mirror, 'two levels', notInPython === undefined ? {} : { notInPython })

  const bucketOfFile = new Map((await java.entries()).map(({ fileName, bucket }) => [fileName, bucket]))
  const records = await java.records()
  t.strictSame(
    records.map(({ file }) => bucketOfFile.get(file ?? null)),
    (await java.buckets(records.map(({ value }) => value as JsonRow))).map(({ bucket }) => bucket),
    'every record is in the bucket that Java looks in',
  )

  const wanted = rows.map((row) => mirror.expectedAt(row))
  const ours = await mirror.table.getMany(rows.map((row) => mirror.keyOf(row)))
  t.strictSame(
    ours.map((row) => (row === undefined ? null : mirror.json(row))),
    wanted,
    'our point reads',
  )
  // Paimon's lookup files compare keys as objects, which byte arrays are not.
  if (keyFields.some(({ type }) => type.kind === 'binary' || type.kind === 'varbinary')) return
  const found = await java.lookup(rows.map((row) => mirror.jsonKey(row)))
  t.strictSame(
    found.map((row) => (row === null ? null : roundFloats(mirror.fields, row))),
    wanted,
    'point lookups by Java',
  )
}
