import t from 'tap'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { parseSnapshot, printSnapshot } from '../../../formats/meta/snapshot.ts'
import { parseTag, printTag } from '../../../formats/meta/tag.ts'
import type { Snapshot } from '../../../formats/meta/types.ts'
import { cases, expected, filesOf } from './golden.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })
const unsupported = (message: RegExp) => ({ name: 'FormatError', code: 'UNSUPPORTED', message })

const snapshot: Snapshot = {
  version: 3,
  id: 7,
  schemaId: 0,
  baseManifestList: 'manifest-list-a-0',
  deltaManifestList: 'manifest-list-a-1',
  commitUser: 'me "2^63" 9223372036854775808',
  commitIdentifier: 9223372036854775807n,
  commitKind: 'APPEND',
  timeMillis: 1795998159700,
  totalRecordCount: 9007199254740993n,
  deltaRecordCount: -9007199254740993n,
}

t.test('snapshots of Paimon print byte for byte as they were', (t) => {
  let files = 0
  for (const table of cases) {
    const all = [...filesOf(table, 'snapshot', 'snapshot-'), ...filesOf(table, 'changelog', 'changelog-')]
    for (const [name, bytes] of all) {
      const parsed = parseSnapshot(bytes)
      if (text(printSnapshot(parsed)) !== text(bytes))
        t.equal(text(printSnapshot(parsed)), text(bytes), `${table} ${name}`)
      if (parsed.id !== Number(name.split('-')[1])) t.fail(`${table} ${name} has id ${parsed.id}`)
      files++
    }
  }
  t.ok(files > 300, `${files} files`)
  t.end()
})

t.test('snapshots hold what the system table says', (t) => {
  for (const table of cases) {
    const wanted = expected(table, 'snapshots') as Record<string, unknown>[]
    const found = new Map(
      filesOf(table, 'snapshot', 'snapshot-')
        .map(([, bytes]) => parseSnapshot(bytes))
        .map((s) => [s.id, s]),
    )
    for (const row of wanted) {
      const { id, commitKind, commitUser, commitIdentifier, totalRecordCount } = found.get(Number(row.snapshot_id))!
      t.strictSame(
        [id, commitKind, commitUser, String(commitIdentifier), Number(totalRecordCount)],
        [row.snapshot_id, row.commit_kind, row.commit_user, String(row.commit_identifier), row.total_record_count].map(
          (value, i) => (i === 0 || i === 4 ? Number(value) : value),
        ),
        `${table} ${id}`,
      )
    }
  }
  t.end()
})

t.test('every key comes back, 64 bits exact, absent keys stay absent', (t) => {
  t.strictSame(parseSnapshot(printSnapshot(snapshot)), snapshot)
  const full: Snapshot = {
    ...snapshot,
    baseManifestListSize: 1,
    deltaManifestListSize: 2,
    changelogManifestList: 'c',
    changelogManifestListSize: 3,
    indexManifest: 'i',
    changelogRecordCount: 2n ** 63n - 1n,
    watermark: -(2n ** 63n),
    statistics: 'stat-a-0',
    properties: { a: 'b', __proto__x: '' },
    nextRowId: 0n,
    extra: { operation: 'WRITE', logOffsets: { 0: 9007199254740993n }, flags: [1, null, true, 1.5] },
  }
  t.strictSame(parseSnapshot(printSnapshot(full)), full)
  t.match(
    text(printSnapshot(full)),
    /"watermark" : -9223372036854775808,\n {2}"statistics" : "stat-a-0",\n {2}"properties" : \{/,
  )
  t.end()
})

t.test('layout and null values do not matter, old files need no version', (t) => {
  const json = text(printSnapshot(snapshot))
  t.strictSame(parseSnapshot(utf8(json.replace(/\s+(?=["}])/g, '').replace(/" : /g, '":'))), snapshot)
  t.strictSame(parseSnapshot(utf8(json.replace('{', '{ "watermark" : null, "indexManifest" : null,'))), snapshot)
  t.equal(parseSnapshot(utf8(json.replace('"version" : 3,', ''))).version, 1)
  t.end()
})

t.test('a missing or wrong key is named', (t) => {
  const json = JSON.parse(text(printSnapshot({ ...snapshot, commitIdentifier: 5n })))
  const parse = (change: object) => () => parseSnapshot(utf8(JSON.stringify({ ...json, ...change })))
  t.doesNotThrow(parse({}))
  const { extra: _, ...required } = snapshot
  for (const key of Object.keys(required).filter((key) => key !== 'version')) {
    t.throws(parse({ [key]: undefined }), corrupt(new RegExp(`key "${key}" is missing`)), key)
    t.throws(parse({ [key]: null }), corrupt(new RegExp(`key "${key}" is missing`)), key)
    t.throws(parse({ [key]: ['x'] }), corrupt(new RegExp(`key "${key}" must be .*, found an array`)), key)
  }
  t.throws(parse({ id: 0 }), corrupt(/key "id" must be an integer from 1 on/))
  t.throws(parse({ id: 1.5 }), corrupt(/key "id" must be .*, found 1.5/))
  t.throws(parse({ id: '7' }), corrupt(/key "id" must be .*, found "7"/))
  t.throws(parse({ schemaId: -1 }), corrupt(/key "schemaId" must be an integer from 0 on, found -1/))
  t.throws(parse({ properties: { a: 1 } }), corrupt(/key "properties"."a" must be text, found 1/))
  t.throws(parse({ commitKind: 'MERGE' }), unsupported(/commitKind "MERGE"/))
  t.throws(parse({ version: 4 }), unsupported(/version 4, the newest known is 3/))
  const long = (digits: string) => () =>
    parseSnapshot(utf8(text(printSnapshot(snapshot)).replace('9223372036854775807,', `${digits},`)))
  t.throws(long('9223372036854775808'), corrupt(/"commitIdentifier" must be an integer of 64 bits/))
  t.throws(long('1.0e400'), corrupt(/out of range/))
  t.end()
})

t.test('a half, empty or zeroed file is corrupt', (t) => {
  const bytes = printSnapshot(snapshot)
  for (let length = 0; length < bytes.length; length++) {
    t.throws(() => parseSnapshot(bytes.subarray(0, length)), corrupt(/^snapshot[:,]/), `first ${length} bytes`)
  }
  t.throws(() => parseSnapshot(new Uint8Array(300)), corrupt(/expected a value, found "\\u0000"/))
  t.throws(() => parseSnapshot(utf8('[1]')), corrupt(/expected an object, found an array/))
  t.end()
})

t.test('no changed byte gives anything but a snapshot or a FormatError', (t) => {
  const bytes = printSnapshot(snapshot)
  let refused = 0
  for (let at = 0; at < bytes.length; at++) {
    for (const mask of [0x01, 0x10, 0x80, 0xff]) {
      const copy = bytes.slice()
      copy[at]! ^= mask
      try {
        parseSnapshot(copy)
      } catch (error) {
        refused++
        if (!(error instanceof FormatError)) t.fail(`byte ${at} ^ ${mask}`, { error })
      }
    }
  }
  t.ok(refused > bytes.length, `${refused} of ${bytes.length * 4} refused`)
  t.end()
})

t.test('a tag is a snapshot, with or without a retention', (t) => {
  for (const [name, bytes] of filesOf('tags_expired', 'tag', 'tag-')) {
    const tag = parseTag(bytes, name.slice(4))
    t.strictSame(tag.snapshot, parseSnapshot(bytes))
    t.equal(text(printTag(tag)), text(bytes), name)
  }
  const json = text(printSnapshot(snapshot))
  const withTime = json.replace(
    /\n\}$/,
    ',\n  "tagCreateTime" : [ 2026, 11, 30, 9, 27, 1, 5000 ],\n  "tagTimeRetained" : 259200.000000000\n}',
  )
  const tag = parseTag(utf8(withTime), 'monthly')
  const wanted = { name: 'monthly', snapshot, createTime: [2026, 11, 30, 9, 27, 1, 5000], timeRetainedSeconds: 259200 }
  t.strictSame(tag, wanted)
  t.strictSame(parseTag(printTag(tag), 'monthly'), wanted)
  const wrong = (value: string) => () => parseTag(utf8(json.replace('{', `{ ${value},`)), 'x')
  t.throws(wrong('"tagCreateTime" : [ 2026 ]'), corrupt(/"tagCreateTime" must be/))
  t.throws(wrong('"tagTimeRetained" : "PT1H"'), corrupt(/"tagTimeRetained" must be a number/))
  t.end()
})
