import tap from 'tap'
import { type FieldType, type Table, t } from '../../engine/index.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { alter, collect, open, openAlone, refused, storeOf } from '../support/warehouses.ts'

/** A table that another engine alters between two opens. */
class Altered {
  readonly #folder: string
  #warehouse: Awaited<ReturnType<typeof open>> | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  async create(fields: Readonly<Record<string, FieldType<unknown, unknown, boolean>>>, options = {}): Promise<Table> {
    this.#warehouse = await open(this.#folder)
    const definition = { fields, primaryKey: ['k'], options: { 'write-only': true, ...options } }
    return (await this.#warehouse.createTable('db.t', definition)) as unknown as Table
  }

  /** Closes, publishes one schema a change, opens. */
  async alter(...changes: readonly ((fields: readonly Field[], nextId: number) => readonly Field[])[]): Promise<Table> {
    await this.close()
    const store = await storeOf(this.#folder, 'db', 't')
    for (const change of changes) {
      await alter(store, (schema: TableSchema) => {
        const fields = change(schema.fields, schema.highestFieldId + 1)
        return { fields, highestFieldId: Math.max(schema.highestFieldId, ...fields.map(({ id }) => id)) }
      })
    }
    return this.reopen()
  }

  async reopen(): Promise<Table> {
    await this.close()
    this.#warehouse = await open(this.#folder)
    return this.#warehouse.table('db.t')
  }

  async close(): Promise<void> {
    await this.#warehouse?.close()
    this.#warehouse = undefined
  }
}

const INT: DataType = { kind: 'int', nullable: true }
const BIGINT: DataType = { kind: 'bigint', nullable: true }

const drop = (name: string) => (fields: readonly Field[]) => fields.filter((field) => field.name !== name)
const add = (name: string, type: DataType) => (fields: readonly Field[], id: number) => [...fields, { id, name, type }]
const rename = (from: string, to: string) => (fields: readonly Field[]) =>
  fields.map((field) => (field.name === from ? { ...field, name: to } : field))
const retype = (name: string, type: DataType) => (fields: readonly Field[]) =>
  fields.map((field) => (field.name === name ? { ...field, type } : field))

async function put(table: Table, ...rows: readonly Record<string, unknown>[]): Promise<void> {
  await table.put(rows)
  await table.commit()
}

tap.test('C097 a column dropped and added again under its name does not bring old values back', async (test) => {
  const altered = new Altered(test.testdir())
  await put(await altered.create({ k: t.int(), b: t.int().nullable(), c: t.int().nullable() }), { k: 1, b: 11, c: 12 })
  let table = await altered.alter(drop('b'), add('b', INT), rename('c', 'cc'), retype('cc', BIGINT))
  const old = { k: 1, cc: 12n, b: null }
  test.strictSame(await collect(table.scan()), [old])
  test.strictSame(await table.get(1), old, 'get')
  test.strictSame(await collect(table.scan({ snapshot: 1 })), [old], 'the old snapshot, in the columns of now')

  const fresh = { k: 2, cc: 5000000000n, b: 7 }
  await put(table, fresh)
  const check = async (state: string) => {
    test.strictSame(await collect(table.scan()), [old, fresh], state)
    test.strictSame(await collect(table.scan({ where: { cc: 12n } })), [old], `cc = 12, ${state}`)
    test.strictSame(await collect(table.scan({ where: { b: { isNull: true } } })), [old], `b is null, ${state}`)
    test.strictSame(await collect(table.scan({ where: { b: 11 } })), [], `b = 11 is gone, ${state}`)
    test.strictSame(await collect(table.scan({ where: { cc: 5000000000n } })), [fresh], `cc = 5000000000, ${state}`)
    test.strictSame(await table.getMany([1, 2]), [old, fresh], `get, ${state}`)
  }
  await check('two schemas')
  await table.compact({ full: true })
  await check('compacted')
  table = await altered.reopen()
  await check('opened again')
  await altered.close()
})

tap.test('C098 columns that swapped their names keep their values', async (test) => {
  const altered = new Altered(test.testdir())
  await put(await altered.create({ k: t.int(), a: t.int().nullable(), b: t.int().nullable() }), { k: 1, a: 10, b: 20 })
  const table = await altered.alter(rename('a', 'tmp'), rename('b', 'a'), rename('tmp', 'b'))
  const check = async (state: string) => {
    test.strictSame(await collect(table.scan()), [{ k: 1, b: 10, a: 20 }], state)
    test.strictSame(await collect(table.scan({ columns: ['a'] })), [{ a: 20 }], `a alone, ${state}`)
    test.equal((await collect(table.scan({ where: { a: 20 } }))).length, 1, `a = 20, ${state}`)
    test.equal((await collect(table.scan({ where: { a: 10 } }))).length, 0, `a = 10, ${state}`)
    test.strictSame(await table.get(1, { columns: ['b'] }), { b: 10 }, `get, ${state}`)
  }
  await check('as written')
  await table.compact({ full: true })
  await check('moved')
  await put(table, { k: 1, b: 1, a: 2 })
  await table.compact({ full: true })
  test.strictSame(await collect(table.scan()), [{ k: 1, b: 1, a: 2 }], 'rewritten')
  await altered.close()
})

tap.test('C100 a filter after a type change finds rows of old files', async (test) => {
  const altered = new Altered(test.testdir())
  const created = await altered.create({ k: t.int(), a: t.int().nullable() })
  const rows = Array.from({ length: 200 }, (_, index) => ({ k: index + 1, a: index + 1 }))
  await put(created, ...rows.slice(0, 100))
  await put(created, ...rows.slice(100))
  const table = await altered.alter(retype('a', BIGINT), add('n', INT))
  const check = async (state: string) => {
    const count = async (where: object) => (await collect(table.scan({ where: where as never }))).length
    test.equal(await count({ a: 50n }), 1, `a = 50, ${state}`)
    test.equal(await count({ a: { gt: 150n } }), 50, `a > 150, ${state}`)
    test.equal(await count({ a: 5000000000n }), 0, `a = 5000000000, ${state}`)
    test.equal(await count({ a: { lt: 5000000000n } }), 200, `a < 5000000000, ${state}`)
    test.equal(await count({ a: { ne: 5000000000n } }), 200, `a <> 5000000000, ${state}`)
    test.equal(await count({ n: { isNull: true } }), 200, `n is null, ${state}`)
    test.equal(await count({ n: 1 }), 0, `n = 1, ${state}`)
    test.equal(await count({ not: { n: 1 } }), 0, `not n = 1: unknown, ${state}`)
    test.equal(await count({ or: [{ n: 1 }, { a: 7n }] }), 1, `or, ${state}`)
  }
  await check('old files')
  await table.compact({ full: true })
  await check('compacted')
  await put(table, { k: 1, a: 5000000000n, n: 1 })
  test.strictSame(await collect(table.scan({ where: { n: 1 } })), [{ k: 1, a: 5000000000n, n: 1 }])
  test.strictSame(await collect(table.scan({ where: { a: 1n } })), [], 'the old value of the row')
  await altered.close()
})

tap.test('C100 other type changes: bounds of the old type never hide a row', async (test) => {
  const altered = new Altered(test.testdir())
  const created = await altered.create({
    k: t.int(),
    i: t.int().nullable(),
    f: t.float().nullable(),
    d: t.decimal(6, 2).nullable(),
    s: t.varchar(4).nullable(),
    n: t.int().nullable(),
  })
  await put(
    created,
    { k: 1, i: 9, f: 0.1, d: '12.50', s: 'nine', n: -9 },
    { k: 2, i: 10, f: 2.5, d: '-3.00', s: 'zz', n: 10 },
  )
  const table = await altered.alter(
    retype('i', { kind: 'varchar', length: 2147483647, nullable: true }),
    retype('f', { kind: 'double', nullable: true }),
    retype('d', { kind: 'decimal', precision: 10, scale: 4, nullable: true }),
    retype('s', { kind: 'varchar', length: 2147483647, nullable: true }),
    retype('n', { kind: 'double', nullable: true }),
  )
  const [one, two] = [
    { k: 1, i: '9', f: Math.fround(0.1), d: '12.5000', s: 'nine', n: -9 },
    { k: 2, i: '10', f: 2.5, d: '-3.0000', s: 'zz', n: 10 },
  ]
  const check = async (state: string) => {
    test.strictSame(await collect(table.scan()), [one, two], state)
    for (const row of [one, two]) {
      for (const column of ['i', 'f', 'd', 's', 'n'] as const) {
        const found = await collect(table.scan({ where: { [column]: row[column] } as never }))
        test.strictSame(found, [row], `${column} = ${row[column]}, ${state}`)
      }
    }
    // As text, '10' < '9'.
    test.strictSame(await collect(table.scan({ where: { i: { lt: '9' } } as never })), [two], `i < '9', ${state}`)
    test.strictSame(await collect(table.scan({ where: { n: { gt: 9.5 } } as never })), [two], `n > 9.5, ${state}`)
  }
  await check('old files')
  await table.compact({ full: true })
  await check('compacted')
  await put(table, { ...two, n: 0.5 })
  await table.compact({ full: true })
  test.strictSame(await collect(table.scan()), [one, { ...two, n: 0.5 }], 'rewritten')
  await altered.close()
})

/** A table that is open while another process alters it. */
async function openWhileAltered(path: string, change: (schema: TableSchema) => Partial<TableSchema>) {
  const [old, other] = [openAlone(path), openAlone(path)]
  const definition = {
    fields: { k: t.int(), v: t.int() },
    primaryKey: ['k'],
    options: { 'num-sorted-run.compaction-trigger': 2 },
  } as const
  const table = await old.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await alter(await storeOf(path, 'db', 't'), change)
  const newer = (await other.table('db.t')) as unknown as Table
  return { old, other, table, newer }
}

const addColumn = ({ fields, highestFieldId }: TableSchema) => ({
  fields: [...fields, { id: highestFieldId + 1, name: 'added', type: INT }],
  highestFieldId: highestFieldId + 1,
})

tap.test(
  'rows of a newer schema are neither cut down by a handle that does not know it, nor written over',
  async (test) => {
    const { old, other, table, newer } = await openWhileAltered(test.testdir(), addColumn)
    await newer.put({ k: 2, v: 2, added: 42 })
    await newer.commit()
    await table.put({ k: 3, v: 3 })
    test.ok((await table.commit()).created, 'rows that were written before it was seen are committed')
    for (const call of [
      () => table.put({ k: 2, v: 3 }),
      () => table.delete(2),
      () => table.get(2),
      async () => table.getSync(2),
      () => table.getMany([2]),
      () => table.scan(),
      () => collect(table.scan({ snapshot: 2 })),
      () => table.compact({ full: true }),
      () => table.compact(),
      () => table.refresh(),
    ]) {
      await refused(test, call, 'CONFLICT', { expected: 0, actual: 1 }, 'open it again', 'columns')
    }
    await refused(test, old.table('db.t'), 'CONFLICT', { expected: 0, actual: 1 }, 'Close all its handles')
    await old.close()
    await newer.refresh()
    await newer.compact({ full: true })
    test.strictSame(await collect(newer.scan()), [
      { k: 1, v: 1, added: null },
      { k: 2, v: 2, added: 42 },
      { k: 3, v: 3, added: null },
    ])
    await other.close()
  },
)

tap.test('refresh() tells of new columns that no snapshot goes by yet', async (test) => {
  const { old, other, table } = await openWhileAltered(test.testdir(), addColumn)
  test.strictSame(await table.get(1), { k: 1, v: 1 }, 'not looked for by a get')
  await refused(test, () => table.refresh(), 'CONFLICT', { expected: 0, actual: 1 }, 'open it again', 'columns')
  await refused(test, table.get(1), 'CONFLICT', { expected: 0, actual: 1 })
  for (const warehouse of [old, other]) await warehouse.close()
})

tap.test('a handle that only reads says that there is a new schema', async (test) => {
  const path = test.testdir()
  const { old, other, newer } = await openWhileAltered(path, () => ({}))
  const reading = openAlone(path, { readOnly: true })
  const reader = await reading.table('db.t')
  test.strictSame(await reader.get(1), { k: 1, v: 1 })
  await alter(await storeOf(path, 'db', 't'), addColumn)
  test.strictSame(await reader.get(1), { k: 1, v: 1 }, 'no row has it yet')
  await newer.put({ k: 2, v: 2 })
  await newer.commit()
  await refused(test, reader.get(1), 'CONFLICT', { expected: 1, actual: 2 }, 'open it again')
  await refused(test, () => collect(reader.scan()), 'CONFLICT', { expected: 1, actual: 2 }, 'open it again')
  await reader.close()
  test.strictSame(await (await reading.table('db.t')).get(1), { k: 1, v: 1, added: null })
  for (const warehouse of [old, other, reading]) await warehouse.close()
})

tap.test(
  'an option that another engine set is not passed over: rows are committed, nothing is expired or compacted by the old ones',
  async (test) => {
    const { old, other, table } = await openWhileAltered(test.testdir(), ({ options }) => ({
      options: { ...options, 'snapshot.num-retained.min': '100' },
    }))
    await table.put({ k: 2, v: 2 })
    const details = { expected: 0, actual: 1, option: 'snapshot.num-retained.min' }
    test.ok((await table.commit()).created, 'acknowledged rows are not lost over it')
    test.strictSame(await table.get(2), { k: 2, v: 2 }, 'reads do not go by it')
    for (const call of [() => table.put({ k: 3, v: 3 }), () => table.expireSnapshots({ retainMax: 1 })]) {
      await refused(test, call, 'CONFLICT', details, 'snapshot.num-retained.min')
    }
    await old.close()
    await other.close()
  },
)

tap.test('an option that decides where rows lie, or that this version does not write, stops commits', async (test) => {
  for (const [option, value] of [
    ['bucket', '4'],
    ['partition.default-name', 'none'],
    ['file.format', 'orc'],
  ] as const) {
    const { old, other, table } = await openWhileAltered(
      `${test.testdir({ [option]: {} })}/${option}`,
      ({ options }) => ({
        options: { ...options, [option]: value },
      }),
    )
    await table.put({ k: 2, v: 2 })
    await refused(test, table.commit(), 'CONFLICT', { expected: 0, actual: 1, option }, option, 'discard')
    await old.close({ discard: true })
    await other.close()
  }
})

tap.test('comments and options of other engines concern nobody', async (test) => {
  const { old, other, table } = await openWhileAltered(test.testdir(), ({ options, fields }) => ({
    options: { ...options, 'some.other-engine': 'x' },
    fields: fields.map((field) => ({ ...field, description: 'new' })),
    comment: 'new',
  }))
  await table.put({ k: 2, v: 2 })
  await table.commit()
  await table.compact({ full: true })
  await table.refresh()
  test.equal((await collect(table.scan())).length, 2)
  await old.close()
  await other.close()
})

tap.test('an option that decides what rows of upper levels hold stops reads', async (test) => {
  for (const [option, value] of [
    ['changelog-producer', 'lookup'],
    ['force-lookup', 'true'],
  ] as const) {
    const { old, other, table } = await openWhileAltered(test.testdir(), ({ options }) => ({
      options: { ...options, [option]: value },
    }))
    await refused(test, () => table.refresh(), 'CONFLICT', { expected: 0, actual: 1, option }, option)
    await refused(test, table.get(1), 'CONFLICT', { expected: 0, actual: 1, option })
    await old.close()
    await other.close()
  }
})
