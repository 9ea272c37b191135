import t from 'tap'
import { nextSnapshot, rowDelta, type SnapshotInput } from '../../../engine/plan/next-snapshot.ts'
import type { Snapshot } from '../../../formats/meta/types.ts'
import { entry, file } from '../../support/plan-files.ts'

const input: SnapshotInput = {
  kind: 'APPEND',
  schemaId: 2,
  user: 'u',
  identifier: 9223372036854775807n,
  nowMillis: 1000,
  base: { name: 'manifest-list-0', bytes: 100 },
  delta: { name: 'manifest-list-1', bytes: 200 },
  deltaRows: 7n,
}

const previous: Snapshot = nextSnapshot(null, { ...input, watermark: 50n, statistics: 'stat-0', indexManifest: 'im-0' })

t.test('the first snapshot of a table', async (t) => {
  t.strictSame(nextSnapshot(null, input), {
    version: 3,
    id: 1,
    schemaId: 2,
    baseManifestList: 'manifest-list-0',
    baseManifestListSize: 100,
    deltaManifestList: 'manifest-list-1',
    deltaManifestListSize: 200,
    commitUser: 'u',
    commitIdentifier: 9223372036854775807n,
    commitKind: 'APPEND',
    timeMillis: 1000,
    totalRecordCount: 7n,
    deltaRecordCount: 7n,
    nextRowId: 0n,
  })
})

t.test('counts add up exactly, and may go down', async (t) => {
  const large = { ...previous, totalRecordCount: 9007199254740993n }
  const next = nextSnapshot(large, { ...input, kind: 'COMPACT', deltaRows: -2n })
  t.match(next, { id: 2, totalRecordCount: 9007199254740991n, deltaRecordCount: -2n, commitKind: 'COMPACT' })
  const f = (name: string, rows: number) => file({ name, rows })
  t.equal(rowDelta([entry('add', f('a', 5)), entry('delete', f('b', 7)), entry('add', f('c', 1))]), -1n)
  t.equal(rowDelta([]), 0n)
})

t.test('C092: the time never decreases', async (t) => {
  t.equal(nextSnapshot(previous, { ...input, nowMillis: 999 }).timeMillis, 1000)
  t.equal(nextSnapshot(previous, { ...input, nowMillis: 1001 }).timeMillis, 1001)
})

t.test('the watermark never decreases', async (t) => {
  const watermark = (value?: bigint) => nextSnapshot(previous, { ...input, watermark: value }).watermark
  t.equal(watermark(), 50n)
  t.equal(watermark(49n), 50n)
  t.equal(watermark(51n), 51n)
  t.equal(watermark(-9223372036854775808n), 50n)
  t.notOk('watermark' in nextSnapshot(null, input))
})

t.test('statistics are handed on while the schema stays', async (t) => {
  t.equal(nextSnapshot(previous, input).statistics, 'stat-0')
  t.notOk('statistics' in nextSnapshot(previous, { ...input, schemaId: 3 }))
  t.equal(nextSnapshot(previous, { ...input, schemaId: 3, statistics: 'stat-1' }).statistics, 'stat-1')
})

t.test('the index manifest is complete in every snapshot', async (t) => {
  t.equal(nextSnapshot(previous, input).indexManifest, 'im-0')
  t.equal(nextSnapshot(previous, { ...input, indexManifest: 'im-1' }).indexManifest, 'im-1')
  t.notOk('indexManifest' in nextSnapshot(previous, { ...input, indexManifest: null }))
})

t.test('changelog, properties and row id', async (t) => {
  const next = nextSnapshot(
    { ...previous, nextRowId: 9n, extra: { uuid: 'x' } },
    { ...input, changelog: { name: 'cl', bytes: 3, rows: 4n }, properties: { a: 'b' } },
  )
  t.match(next, {
    changelogManifestList: 'cl',
    changelogManifestListSize: 3,
    changelogRecordCount: 4n,
    properties: { a: 'b' },
    nextRowId: 9n,
  })
  t.notOk('extra' in next, 'keys of other versions describe the other commit')
  t.notOk('properties' in nextSnapshot(next, { ...input, properties: {} }), 'properties are of one commit')
})
