import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import { markedFiles, rowsLeft } from '../support/vectors.ts'
import { storeOf } from '../support/warehouses.ts'
import type { Engines } from './support/engines.ts'
import { Mirror, type Row } from './support/mirror.ts'
import { check, inJava, javaWrites, type Part, part } from './support/part.ts'

type Options = Record<string, string | number | boolean>

/** Each engine marks rows in files of the other, goes on from its vectors, and reads without merging what both have marked. */
export async function checkVectors(t: Test, engines: Engines): Promise<void> {
  const tables: Readonly<Record<string, Options>> = {
    plain: {},
    wide: { 'deletion-vectors.bitmap64': true, bucket: 2, 'target-file-size': '4 kb' },
    told: { 'changelog-producer': 'lookup' },
    beside: { 'index-file-in-data-file-dir': true, 'num-sorted-run.compaction-trigger': 2 },
  }
  for (const [name, options] of Object.entries(tables)) {
    await part(t, engines, `deletion vectors in turns: ${name}`, (each) => inTurns(each, name, options))
  }
}

const rows = (from: number, count: number, version: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    k: from + i,
    v: (from + i) % 7 === 0 ? null : `${version} of ${from + i}`,
  }))

async function inTurns(part: Part, name: string, options: Options): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, `vectors.${name}`, {
    fields: { k: f.int(), v: f.string().nullable() },
    primaryKey: ['k'],
    options: { 'deletion-vectors.enabled': true, ...options },
  })
  const java = inJava(part, mirror)
  const wide = options['deletion-vectors.bitmap64'] === true
  const store = await storeOf(part.warehouse.path, 'vectors', name)
  const counted = async (when: string) => {
    await check(part, mirror, when, wide ? { notInPython: '64-bit deletion vectors' } : {})
    t.equal(rowsLeft(await markedFiles(store)), mirror.rows().length, `${when}: each row is unmarked once`)
  }
  await mirror.commit(rows(0, 300, 0))
  await mirror.table.compact({ full: true })
  for (let version = 1; version <= 12; version++) {
    const [put, gone] = [rows((version * 37) % 280, 12, version), rows((version * 53) % 290, 4, 0)]
    if (version % 2 === 0) await mirror.commit(put, gone)
    else {
      await javaWrites(part, mirror, put, gone)
      await mirror.table.refresh()
    }
    if (version === 5) await java.compact()
    if (version === 6) await mirror.table.compact()
    if (version === 8) await java.compact({ full: true })
    await mirror.table.refresh()
    if (version < 4 || version % 3 === 0) await counted(`after commit ${version}`)
  }
  await mirror.table.compact({ full: true })
  await counted('compacted fully')
  t.ok(
    (await markedFiles(store)).every(({ deleted }) => deleted.length === 0),
    'no marks are left',
  )
  await mirror.reopen()
  await javaWrites(part, mirror, rows(40, 5, 20), rows(100, 3, 0))
  await mirror.table.refresh()
  await counted('written by Java')
  await java.expire({ retainMax: 1, retainMin: 1 })
  await mirror.table.refresh()
  await counted('expired by Java')
  t.strictSame(await java.orphans(), [], 'no file is left that nothing names')
}
