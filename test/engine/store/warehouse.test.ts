import t from 'tap'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import {
  createDatabase,
  dropTable,
  listTables,
  parseTableName,
  tableExists,
  tableFolder,
} from '../../../engine/store/warehouse.ts'
import { failFrom, faultyFileSystem } from '../../support/faulty-fs.ts'
import { goldenInMemory } from '../../support/golden.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { allFiles } from '../../support/table-files.ts'

t.test('a table name is database and table, each fit to be a folder', (t) => {
  t.same(parseTableName('db.t'), { database: 'db', table: 't' })
  t.same(parseTableName('my db.t x #1 %20 é'), { database: 'my db', table: 't x #1 %20 é' })
  const wrong = [
    '',
    't',
    '.t',
    'db.',
    'a.b.c',
    '..',
    '...',
    ' . ',
    'db.a/b',
    'db.a\\b',
    'db.a\0b',
    'd/b.t',
    'db.t$files',
  ]
  for (const name of [...wrong, 'db.a\nb', `db.${'x'.repeat(256)}`, `${'x'.repeat(253)}.t`, `db.${'雪'.repeat(86)}`]) {
    t.throws(() => parseTableName(name), { code: 'INVALID' }, JSON.stringify(name))
  }
  t.doesNotThrow(() => parseTableName(`${'x'.repeat(252)}.${'雪'.repeat(85)}`))
  t.equal(tableFolder('/w', { database: 'db', table: 't' }), '/w/db.db/t')
  t.end()
})

t.test('tables are folders with a schema file, in folders that end in .db', async (t) => {
  const fs = createMemoryFileSystem()
  const schema = new Uint8Array(1)
  for (const path of ['/w/b.db/t2', '/w/b.db/t1', '/w/a.db/t', '/w/other/t', '/w/b.db/.dropped-1', '/w/a.b.db/t']) {
    fs.plant(`${path}/schema/schema-0`, schema)
  }
  fs.plant('/w/b.db/empty/schema/README', schema)
  await fs.makeDirectory('/w/b.db/odd/schema/schema-0')
  fs.plant('/w/b.db/file', schema)
  fs.plant('/w/c.db', schema)
  t.same(
    (await listTables(fs, '/w')).map(({ database, table }) => `${database}.${table}`),
    ['a.t', 'b.t1', 'b.t2'],
  )
  t.same(await listTables(fs, '/none'), [])
  t.equal(await tableExists(fs, '/w/b.db/t1'), true)
  for (const folder of ['/w/b.db/empty', '/w/b.db/odd', '/w/b.db/none', '/w/b.db/file']) {
    t.equal(await tableExists(fs, folder), false, folder)
  }
})

t.test('a new database is durable', async (t) => {
  const fs = createMemoryFileSystem()
  await createDatabase(fs, '/deep/w', 'db')
  await createDatabase(fs, '/deep/w', 'db')
  for (let seed = 0; seed < 10; seed++) t.same(await fs.crash(seededRandom(seed)).list('/deep/w/db.db'), [])
})

t.test('a dropped table is gone with all its files', async (t) => {
  const { fs, table } = goldenInMemory('partitioned')
  await dropTable(fs, seededRandom(1), table)
  t.same(await allFiles(fs, '/'), [])
  t.same(await fs.list('/warehouse/golden.db'), [])
  await t.rejects(dropTable(fs, seededRandom(1), table), { code: 'NOT_FOUND' })
})

t.test('a drop that stops anywhere leaves the whole table or none', async (t) => {
  const counting = faultyFileSystem(goldenInMemory('uc').fs, () => 'pass')
  await dropTable(counting, seededRandom(1), '/warehouse/golden.db/uc')
  for (let call = 0; call < counting.calls.length; call++) {
    const { fs, table } = goldenInMemory('uc')
    const before = await allFiles(fs, '/')
    await dropTable(faultyFileSystem(fs, failFrom(call)), seededRandom(1), table).catch(() => undefined)
    const tables = await listTables(fs, '/warehouse')
    if (tables.length > 0) t.same(await allFiles(fs, '/'), before, `at ${counting.calls[call]}`)
    else t.equal(await tableExists(fs, table), false)
  }
})
