import t from 'tap'
import {
  branchFolder,
  bucketFolder,
  changelogName,
  consumerName,
  dataFileFormat,
  dataFileName,
  fileIndexName,
  metadataName,
  parseBranchFolder,
  parseBucketFolder,
  parseChangelogName,
  parseConsumerName,
  parseDataFileName,
  parseMetadataName,
  parseSchemaName,
  parseSnapshotName,
  parseTagName,
  parseTemporaryName,
  schemaName,
  snapshotName,
  tagName,
  temporaryName,
} from '../../../formats/meta/names.ts'
import { cases, filesOf } from './golden.ts'

const uuid = '05c1a58f-c607-4ee6-b879-12d8d75d3368'

t.test('what is printed is parsed', (t) => {
  for (const id of [1, 7, 10, 2 ** 31, 999_999_999_999_999]) {
    t.equal(parseSnapshotName(snapshotName(id)), id)
    t.equal(parseChangelogName(changelogName(id)), id)
    t.equal(parseSchemaName(schemaName(id)), id)
  }
  t.equal(parseSchemaName(schemaName(0)), 0)
  for (const name of ['a', '1', 'é x', '-', 'tag-tag', '.']) {
    t.equal(parseTagName(tagName(name)), name)
    t.equal(parseBranchFolder(branchFolder(name)), name)
    t.equal(parseConsumerName(consumerName(name)), name)
  }
  for (const kind of ['manifest', 'manifest-list', 'index-manifest', 'index', 'stat'] as const) {
    t.strictSame(parseMetadataName(metadataName(kind, uuid, 12)), { kind, uuid, counter: 12 })
  }
  for (const bucket of [0, 3, 32767, -2]) t.equal(parseBucketFolder(bucketFolder(bucket)), bucket)
  t.equal(bucketFolder(-2), 'bucket-postpone')
  for (const prefix of ['data-', 'changelog-', '', `data-u-${uuid}-s-0-w-`]) {
    const name = dataFileName(prefix, uuid, 0, 'parquet')
    t.strictSame(parseDataFileName(name), { prefix, uuid, counter: 0, format: 'parquet' })
  }
  t.equal(temporaryName('snapshot-7', uuid), `.snapshot-7.${uuid}.tmp`)
  t.strictSame(parseTemporaryName(temporaryName('snapshot-7', uuid)), { target: 'snapshot-7', uuid })
  t.equal(fileIndexName('data-x-0.parquet'), 'data-x-0.parquet.index')
  t.end()
})

t.test('left-over and foreign files are no snapshots, schemas or manifests', (t) => {
  const rests = [
    '',
    '0',
    '007',
    '2.bak',
    '2.tmp',
    '2 ',
    ' 2',
    '+2',
    '-2',
    '2e3',
    '0x2',
    '2.0',
    'two',
    '٢',
    '99999999999999999999',
    '2\n',
  ]
  for (const rest of rests) {
    t.equal(parseSnapshotName(`snapshot-${rest}`), undefined, `snapshot-${rest}`)
    t.equal(parseChangelogName(`changelog-${rest}`), undefined)
    if (rest !== '0') t.equal(parseSchemaName(`schema-${rest}`), undefined)
    if (rest !== '0') t.equal(parseBucketFolder(`bucket-${rest}`), undefined)
    if (rest !== '0') t.equal(parseMetadataName(`manifest-${uuid}-${rest}`), undefined)
  }
  for (const name of [
    `.snapshot-2.${uuid}.tmp`,
    'Snapshot-2',
    'xsnapshot-2',
    'LATEST',
    'EARLIEST',
    'schema-2',
    'snapshot',
  ]) {
    t.equal(parseSnapshotName(name), undefined, name)
  }
  t.equal(parseTagName('tag-'), undefined)
  t.equal(parseTagName('.tag-a'), undefined)
  t.equal(parseBucketFolder('bucket-2147483648'), undefined)
  t.equal(parseBucketFolder('bucket--2'), undefined)
  t.equal(parseMetadataName(`manifest-${uuid.toUpperCase()}-0`), undefined)
  t.equal(parseMetadataName(`manifests-${uuid}-0`), undefined)
  t.equal(parseMetadataName(`manifest-${uuid}`), undefined)
  t.equal(parseTemporaryName(`snapshot-7.${uuid}.tmp`), undefined)
  t.equal(parseTemporaryName('.snapshot-7.tmp'), undefined)
  t.equal(parseDataFileName(`data-${uuid}-0`), undefined)
  t.equal(parseDataFileName(`data-${uuid}-0.parquet.index`), undefined)
  t.equal(parseDataFileName('data-0.parquet'), undefined)
  t.end()
})

t.test('the format of a data file is in its name', (t) => {
  t.equal(dataFileFormat(`data-${uuid}-0.parquet`), 'parquet')
  t.equal(dataFileFormat('data-1.ORC'), 'orc')
  t.equal(dataFileFormat('data-1.csv.gz'), 'csv')
  t.equal(dataFileFormat('data-1.json.zst'), 'json')
  t.equal(dataFileFormat('data-1.gz'), 'gz')
  t.equal(dataFileFormat('data-1'), undefined)
  t.equal(dataFileFormat('data-1.'), undefined)
  t.end()
})

t.test('every name in the tables of Paimon is known, and printed alike', (t) => {
  let names = 0
  const check = (name: string, again: string | undefined) => {
    names++
    if (again !== name) t.equal(again, name)
  }
  const some = <T>(value: T | undefined, print: (value: T) => string) =>
    value === undefined ? undefined : print(value)
  for (const table of cases) {
    for (const folder of ['manifest', 'index']) {
      for (const [name] of filesOf(table, folder, '')) {
        check(
          name,
          some(parseMetadataName(name), ({ kind, uuid, counter }) => metadataName(kind, uuid, counter)),
        )
      }
    }
    for (const [name] of filesOf(table, 'snapshot', 'snapshot-'))
      check(name, some(parseSnapshotName(name), snapshotName))
    for (const [name] of filesOf(table, 'changelog', 'changelog-'))
      check(name, some(parseChangelogName(name), changelogName))
    for (const [name] of filesOf(table, 'schema', '')) check(name, some(parseSchemaName(name), schemaName))
    for (const [name] of filesOf(table, 'tag', '')) check(name, some(parseTagName(name), tagName))
    for (const [name] of filesOf(table, 'bucket-0', 'data-', 'changelog-')) {
      if (name.endsWith('.index')) continue
      const print = (file: NonNullable<ReturnType<typeof parseDataFileName>>) =>
        dataFileName(file.prefix, file.uuid, file.counter, file.format)
      check(name, some(parseDataFileName(name), print))
    }
  }
  t.ok(names > 1500, `${names} names`)
  t.end()
})
