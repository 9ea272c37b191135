import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Fields, t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import type { JsonRow } from './support/oracle.ts'
import { check, inJava, javaWrites, type Part, part, sameRows } from './support/part.ts'

/** Faults known from the field, in tables that we write and others read. */
export async function checkCases(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'C042 BIGINT keeps its last digit', bigints)
  await part(t, engines, 'C046 decimals keep sign and digits', decimals)
  await part(t, engines, 'C047 timestamps before 1970 and far away', timestamps)
  await part(t, engines, 'C048 dates before 1970, in the gap of 1582 and BC', dates)
  await part(t, engines, 'C049 empty text is not null', emptyTexts)
  await part(t, engines, 'C060 text keys in order of their UTF-8 bytes', textOrder)
  await part(t, engines, 'C063 special characters in partition values', partitionTexts)
  for (const legacy of [true, false]) {
    await part(t, engines, `C065 DATE and TIMESTAMP partitions, ${legacy ? 'legacy names' : 'plain names'}`, (part) =>
      partitionTimes(part, legacy),
    )
    await part(t, engines, `partitions of other types, ${legacy ? 'legacy names' : 'plain names'}`, (part) =>
      partitionTypes(part, legacy),
    )
  }
}

async function create(
  part: Part,
  fields: Fields,
  primaryKey: readonly string[],
  options: Readonly<Record<string, string | number | boolean>> = {},
  partitionBy: readonly string[] = [],
): Promise<Mirror> {
  const definition = { fields, primaryKey, partitionBy, options: { 'write-only': true, ...options } }
  return Mirror.create(part.warehouse, 'cases.t', definition)
}

/** Java finds exactly the rows whose column has the value, for each value of the column in the table. */
async function checkEqualities(part: Part, mirror: Mirror, column: string): Promise<void> {
  const rows = mirror.expected()
  const values = new Map(rows.map((row) => [JSON.stringify(row[column]), row[column]!]))
  for (const value of values.values()) {
    if (value === null) continue
    const found = await inJava(part, mirror).read({ filter: [[column, '=', value]] })
    const wanted = rows.filter((row) => JSON.stringify(row[column]) === JSON.stringify(value))
    sameRows(part.t, found, wanted, `${column} = ${JSON.stringify(value)}`)
  }
}

async function bigints(part: Part): Promise<void> {
  const { t } = part
  const mirror = await create(part, { k: f.bigint(), v: f.bigint() }, ['k'])
  const base = 9007199254740992n
  await mirror.commit([0n, 1n, 2n, 3n].map((i) => ({ k: base + i, v: base + i + 1n })))
  await mirror.commit(
    [-9223372036854775808n, 9223372036854775807n].map((k) => ({ k, v: k })),
    [{ k: base + 1n }],
  )
  for (const when of ['level 0', 'full compaction']) {
    if (when !== 'level 0') await mirror.table.compact({ full: true })
    await check(part, mirror, when)
    await checkEqualities(part, mirror, 'k')
    await checkEqualities(part, mirror, 'v')
    t.strictSame(await inJava(part, mirror).read({ filter: [['k', '=', `${base + 1n}`]] }), [])
  }
  const [entry] = await inJava(part, mirror).entries()
  t.strictSame([entry!.minKey, entry!.maxKey], [{ k: '-9223372036854775808' }, { k: '9223372036854775807' }])
}

async function decimals(part: Part): Promise<void> {
  const mirror = await create(
    part,
    { k: f.int(), wide: f.decimal(38, 10), small: f.decimal(5, 2), whole: f.decimal(18, 0) },
    ['k'],
  )
  await mirror.commit([
    { k: 1, wide: '-1234567890123456789012345678.0123456789', small: '-0.01', whole: '-999999999999999999' },
    { k: 2, wide: '0.0000000001', small: '999.99', whole: '999999999999999999' },
    { k: 3, wide: '-0.0000000001', small: '0.00', whole: '0' },
    { k: 4, wide: '9999999999999999999999999999.9999999999', small: '-999.99', whole: '-1' },
  ])
  for (const when of ['level 0', 'full compaction']) {
    if (when !== 'level 0') await mirror.table.compact({ full: true })
    await check(part, mirror, when)
    for (const column of ['wide', 'small', 'whole']) await checkEqualities(part, mirror, column)
  }
}

async function timestamps(part: Part): Promise<void> {
  const fields = { k: f.int(), ms: f.timestamp(3), us: f.timestamp(6), ns: f.timestamp(9) }
  const mirror = await create(part, fields, ['k'])
  const [first, last] = [-62_135_596_800_000n, 253_402_300_799_999n]
  await mirror.commit([
    { k: 1, ms: -1n, us: -1n, ns: -1n },
    { k: 2, ms: first, us: first * 1000n, ns: first * 1_000_000n },
    { k: 3, ms: last, us: last * 1000n + 999n, ns: last * 1_000_000n + 999_999n },
    { k: 4, ms: 0n, us: 1n, ns: -999_999n },
  ])
  for (const when of ['level 0', 'full compaction']) {
    if (when !== 'level 0') await mirror.table.compact({ full: true })
    await check(part, mirror, when, { notInPython: 'TIMESTAMP(9)' })
    for (const column of ['ms', 'us', 'ns']) await checkEqualities(part, mirror, column)
  }
  const [row] = mirror.expected()
  part.t.strictSame(
    [row!.ms, row!.us, row!.ns],
    ['1969-12-31T23:59:59.999', '1969-12-31T23:59:59.999999', '1969-12-31T23:59:59.999999999'],
  )
}

async function dates(part: Part): Promise<void> {
  const { t } = part
  const mirror = await create(part, { d: f.date(), v: f.date() }, ['d'])
  const days = [-1, -141_432, -719_162, 2_932_896, 0]
  await mirror.commit(days.map((d) => ({ d, v: d })))
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'days that Python has')
  await checkEqualities(part, mirror, 'v')
  t.strictSame(
    (await inJava(part, mirror).read()).map(({ d }) => d),
    ['0001-01-01', '1582-10-10', '1969-12-31', '1970-01-01', '9999-12-31'],
  )
  await mirror.commit([{ d: -735_160, v: -735_160 }])
  await check(part, mirror, '15 March 44 BC', { notInPython: 'years before 1' })
  const bc = await inJava(part, mirror).read({ filter: [['d', '<', '0001-01-01']] })
  t.strictSame(bc, [{ d: '-0043-03-15', v: '-0043-03-15' }])
}

async function emptyTexts(part: Part): Promise<void> {
  const { t } = part
  for (const bucket of [1, 4]) {
    const fields = { k: f.string(), v: f.string().nullable(), b: f.bytes().nullable() }
    const mirror = await Mirror.create(part.warehouse, `cases.empty${bucket}`, {
      fields,
      primaryKey: ['k'],
      options: { bucket },
    })
    await mirror.commit([
      { k: '', v: '', b: new Uint8Array(0) },
      { k: 'n', v: null, b: null },
    ])
    await check(part, mirror, `${bucket} buckets`)
    if (bucket === 4) {
      const files = readdirSync(join(mirror.folder, 'bucket-3'))
      t.equal(files.length, 1, 'the empty key is in bucket 3')
    }
    t.strictSame(await inJava(part, mirror).lookup([{ k: '' }]), [{ k: '', v: '', b: '' }])
    await mirror.commit([], [{ k: '' }])
    await check(part, mirror, 'deleted')
    await mirror.table.compact({ full: true })
    await check(part, mirror, 'compacted')
    t.strictSame(await inJava(part, mirror).lookup([{ k: '' }]), [null])
  }
}

async function textOrder(part: Part): Promise<void> {
  const { t, python } = part
  const mirror = await create(part, { k: f.string(), v: f.int() }, ['k'])
  const inOrder = ['', 'A', 'a', 'z', 'é', '～', '😀']
  const rows = ['😀', '～', 'z', '', 'a', 'é', 'A'].map((k, i): Row => ({ k, v: i + 1 }))
  await mirror.commit(rows)
  const keys = (list: readonly JsonRow[]) => list.map(({ k }) => k)
  const recordKeys = async () => keys((await inJava(part, mirror).records()).map(({ key }) => key as JsonRow))
  await check(part, mirror, 'by us')
  t.strictSame(keys(await mirror.scan()), inOrder, 'our scan is in order')
  t.strictSame(await recordKeys(), inOrder, 'records in the file are in order')
  const [entry] = await inJava(part, mirror).entries()
  t.strictSame([entry!.minKey, entry!.maxKey], [{ k: '' }, { k: '😀' }])
  if (python !== undefined) t.strictSame(keys(await python.readTable(mirror.warehouse, mirror.name)), inOrder)
  const range = await inJava(part, mirror).read({ filter: [['k', '>=', '～']] })
  t.strictSame(keys(range), ['～', '😀'])
  await javaWrites(part, mirror, rows.slice(2))
  await mirror.table.refresh()
  await check(part, mirror, 'merged with rows of Java')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted with rows of Java')
  t.strictSame(await recordKeys(), inOrder, 'records in the file are in order')
}

async function partitionTexts(part: Part): Promise<void> {
  const { t } = part
  const folders: Readonly<Record<string, string>> = {
    'a b': 'a b',
    'a/b': 'a%2Fb',
    'x=y': 'x%3Dy',
    '50%': '50%25',
    é: 'é',
    日本: '日本',
    '😀': '😀',
    '..': '..',
    'c:d': 'c%3Ad',
    't\tb': 't%09b',
    'q?': 'q%3F',
    '{z}': '%7Bz%7D',
    '~': '~',
    '+': '+',
    '&': '&',
  }
  const mirror = await create(part, { p: f.string(), k: f.int(), v: f.string() }, ['p', 'k'], {}, ['p'])
  await mirror.commit(Object.keys(folders).map((p, k) => ({ p, k, v: p })))
  await mirror.commit([{ p: 'a/b', k: 100, v: 'second' }])
  t.strictSame(
    readdirSync(mirror.folder)
      .filter((name) => name.startsWith('p='))
      .sort(),
    Object.values(folders)
      .map((folder) => `p=${folder}`)
      .sort(),
  )
  await check(part, mirror, 'level 0')
  await checkEqualities(part, mirror, 'p')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
  await javaWrites(
    part,
    mirror,
    Object.keys(folders).map((p, k) => ({ p, k, v: 'by Java' })),
  )
  await mirror.table.refresh()
  await check(part, mirror, 'Java writes into the same folders')
  t.equal(readdirSync(mirror.folder).filter((name) => name.startsWith('p=')).length, 15)
}

async function partitionTimes(part: Part, legacy: boolean): Promise<void> {
  const { t } = part
  const mirror = await create(
    part,
    { d: f.date(), ts: f.timestamp(3), k: f.int(), v: f.int() },
    ['d', 'ts', 'k'],
    { 'partition.legacy-name': legacy },
    ['d', 'ts'],
  )
  await mirror.commit([
    { d: 19_723, ts: 1_704_112_200_000n, k: 1, v: 1 },
    { d: -1, ts: -1n, k: 2, v: 2 },
  ])
  t.strictSame(
    readdirSync(mirror.folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^d=[^/]*\/ts=[^/]*$/.test(path))
      .sort(),
    legacy
      ? ['d=-1/ts=1969-12-31T23%3A59%3A59.999', 'd=19723/ts=2024-01-01T12%3A30']
      : ['d=1969-12-31/ts=1969-12-31 23%3A59%3A59.999', 'd=2024-01-01/ts=2024-01-01 12%3A30%3A00.000'],
  )
  await check(part, mirror, 'written')
  await mirror.reopen()
  await mirror.commit([{ d: -1, ts: -1n, k: 2, v: 3 }])
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
  await checkEqualities(part, mirror, 'd')
  await checkEqualities(part, mirror, 'ts')
  await javaWrites(part, mirror, [{ d: -1, ts: -1n, k: 2, v: 4 }])
  await mirror.table.refresh()
  await check(part, mirror, 'Java writes into the same folder')
}

async function partitionTypes(part: Part, legacy: boolean): Promise<void> {
  const { t } = part
  const partitionBy = ['yes', 'n', 'big', 'amount', 'tiny', 'c', 'ts6']
  const mirror = await create(
    part,
    {
      yes: f.boolean(),
      n: f.int(),
      big: f.bigint(),
      amount: f.decimal(10, 2),
      tiny: f.tinyint(),
      c: f.char(4),
      ts6: f.timestamp(6),
      k: f.int(),
      v: f.string().nullable(),
    },
    ['k', ...partitionBy],
    { 'partition.legacy-name': legacy, bucket: 2 },
    partitionBy,
  )
  const row = (i: number, v: string | null): Row => ({
    yes: i % 2 === 0,
    n: (i % 3) * 5 - 10,
    big: 2n ** 62n - BigInt(i % 2),
    amount: i % 2 === 0 ? '-0.10' : '12.00',
    tiny: i % 2,
    c: i % 3 === 0 ? '' : 'ab',
    ts6: i % 2 === 0 ? 1_709_164_800_000_001n : -1_000_000n,
    k: i,
    v,
  })
  await mirror.commit(Array.from({ length: 24 }, (_, i) => row(i, `v${i}`)))
  await mirror.commit([row(1, 'new'), row(2, null)], [row(3, null), row(4, null)])
  await check(part, mirror, 'level 0')
  await mirror.table.compact({ full: true })
  await check(part, mirror, 'compacted')
  for (const column of ['yes', 'n', 'big', 'amount', 'tiny', 'c', 'ts6']) await checkEqualities(part, mirror, column)
  const folders = () =>
    readdirSync(mirror.folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /ts6=[^/]*$/.test(path))
      .sort()
  const before = folders()
  await javaWrites(
    part,
    mirror,
    Array.from({ length: 24 }, (_, i) => row(i, 'by Java')),
  )
  await mirror.table.refresh()
  await check(part, mirror, 'written by Java')
  t.strictSame(folders(), before, 'Java writes into the same folders')
}
