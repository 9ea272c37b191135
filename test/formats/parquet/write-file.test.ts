import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import t from 'tap'
import { crc32 } from '../../../formats/bytes/crc32.ts'
import type { CodecName } from '../../../formats/compress/codec.ts'
import { codecNumber } from '../../../formats/parquet/chunk-metadata.ts'
import { readColumnIndex, readOffsetIndex } from '../../../formats/parquet/file-read.ts'
import { createParquetWriter } from '../../../formats/parquet/file-write.ts'
import { Encoding, PageType, PhysicalType, pageHeader } from '../../../formats/parquet/footer.ts'
import { ThriftReader } from '../../../formats/parquet/thrift.ts'
import { type DataType, type Field, MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { codecs, openBytes, rowsOf } from './support.ts'
import { batchOf, expectedRows, options, type Value, writeFile } from './write-support.ts'

const nullable = true
const text: DataType = { kind: 'varchar', length: MAX_LENGTH, nullable }
const int: DataType = { kind: 'int', nullable }

/** Every flat type with its extremes; null in front, inside and at the end. */
const flat: readonly (readonly [DataType, readonly Value[]])[] = [
  [{ kind: 'boolean', nullable }, [null, true, false, null, true, true, false, true, true, false, null]],
  [{ kind: 'tinyint', nullable }, [null, -128, 127, 0]],
  [{ kind: 'smallint', nullable }, [-32768, 32767, null]],
  [int, [-2147483648, 2147483647, null, 0]],
  [{ kind: 'bigint', nullable }, [null, -(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, null]],
  [{ kind: 'float', nullable }, [1.5, null, -Infinity, 3.4028234663852886e38]],
  [{ kind: 'double', nullable }, [Number.MIN_VALUE, null, Number.MAX_VALUE, -0.1]],
  [{ kind: 'date', nullable }, [-719162, null, 2932896]],
  [{ kind: 'time', precision: 3, nullable }, [0, 86399999, null]],
  [{ kind: 'timestamp', precision: 3, nullable }, [-1n, null, 253402300799999n, -62135596800000n]],
  [{ kind: 'timestamp', precision: 6, nullable }, [-1n, null, 253402300799999999n, -62135596800000000n]],
  [{ kind: 'timestamp_ltz', precision: 3, nullable }, [1700000000000n, null]],
  [{ kind: 'timestamp_ltz', precision: 6, nullable }, [null, 1700000000000000n]],
  [
    { kind: 'timestamp', precision: 9, nullable },
    [-1n, null, 253402300799999999999n, -62135596800000000000n, 0n, 999999999n],
  ],
  [{ kind: 'timestamp_ltz', precision: 9, nullable }, [1700000000123456789n, -86400000000000n, -86400000000001n, null]],
  [{ kind: 'decimal', precision: 9, scale: 2, nullable }, [999999999n, -999999999n, null]],
  [{ kind: 'decimal', precision: 18, scale: 0, nullable }, [null, 10n ** 18n - 1n, 1n - 10n ** 18n]],
  [{ kind: 'decimal', precision: 20, scale: 5, nullable }, [10n ** 20n - 1n, 1n - 10n ** 20n, null, -1n, 0n]],
  [{ kind: 'decimal', precision: 38, scale: 10, nullable }, [10n ** 38n - 1n, null, 1n - 10n ** 38n]],
  [text, ['', null, 'é', '\u{1f600}', '\uffff', 'a'.repeat(200)]],
  [{ kind: 'char', length: 3, nullable }, ['abc', null]],
  [{ kind: 'varbinary', length: MAX_LENGTH, nullable }, [Uint8Array.of(0, 255), null, new Uint8Array(0)]],
  [{ kind: 'binary', length: 2, nullable }, [Uint8Array.of(128, 1), null]],
]
const flatFields = flat.map(([type], i): Field => ({ id: i, name: `${type.kind}_${i}`, type }))

function flatBatch(rows: number) {
  const columns = Object.fromEntries(
    flatFields.map((field, i) => [
      field.name,
      Array.from({ length: rows }, (_, row) => flat[i]![1][row % flat[i]![1].length]!),
    ]),
  )
  return batchOf(flatFields, columns)
}

const codecNames: readonly CodecName[] = ['none', 'snappy', 'gzip', 'lz4_raw', 'lz4_hadoop', 'zstd']
for (const compression of codecNames) {
  t.test(`all flat types, ${compression}`, (t) => {
    const batch = flatBatch(500)
    const { bytes, result } = writeFile(flatFields, [batch], { compression })
    t.equal(result.bytes, bytes.length)
    t.equal(result.rows, 500)
    const file = openBytes(bytes)
    const codecs = new Set(file.metadata.rowGroups[0]!.columns.map(({ metaData }) => metaData!.codec))
    t.ok(codecs.delete(codecNumber(compression)), 'columns that shrink')
    codecs.delete(codecNumber('none'))
    t.equal(codecs.size, 0, 'columns that do not')
    t.same(rowsOf(file, { types: flatFields.map((field) => field.type) }), expectedRows([batch]))
    t.end()
  })
}

t.test('brotli is refused before anything is written', (t) => {
  t.throws(() => writeFile(flatFields, [], { compression: 'brotli' }), { code: 'UNSUPPORTED' })
  t.end()
})

const person: DataType = {
  kind: 'row',
  fields: [
    { id: 20, name: 'x', type: { kind: 'int', nullable: false } },
    { id: 21, name: 'tags', type: { kind: 'array', element: text, nullable } },
  ],
  nullable,
}
const nestedFields: readonly Field[] = [
  { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
  { id: 1, name: 'list', type: { kind: 'array', element: int, nullable } },
  { id: 2, name: 'firm', type: { kind: 'array', element: { kind: 'bigint', nullable: false }, nullable: false } },
  {
    id: 3,
    name: 'map',
    type: { kind: 'map', key: { kind: 'varchar', length: 9, nullable: false }, value: int, nullable },
  },
  {
    id: 4,
    name: 'multi',
    type: { kind: 'multiset', element: { kind: 'varchar', length: 9, nullable: false }, nullable },
  },
  { id: 5, name: 'row', type: person },
  { id: 6, name: 'deep', type: { kind: 'array', element: { kind: 'array', element: text, nullable }, nullable } },
  { id: 7, name: 'rows', type: { kind: 'array', element: person, nullable } },
]
const nestedValues: readonly (readonly Value[])[] = [
  [0, null, [], null, null, null, null, null],
  [1, [], [1n], [], [], [5, null], [], []],
  [2, [null], [1n, 2n, 3n], [['a', null]], [['a', 3]], [6, []], [null], [null]],
  [
    3,
    [1, null, 3],
    [4n],
    [
      ['b', 1],
      ['c', 2],
    ],
    [
      ['b', 1],
      ['c', 9],
    ],
    [7, ['p', null, '']],
    [[]],
    [
      [1, null],
      [2, []],
      [3, ['q', 'r']],
    ],
  ],
  [4, [4], [], [['', 0]], [['', 1]], [8, ['']], [['a'], null, [null, 'b'], []], [[4, [null]]]],
]
function nestedBatch(rows: number) {
  return batchOf(
    nestedFields,
    Object.fromEntries(
      nestedFields.map((field, i) => [
        field.name,
        Array.from({ length: rows }, (_, row) =>
          i === 0 ? row : nestedValues[(row + (row >> 3)) % nestedValues.length]![i]!,
        ),
      ]),
    ),
  )
}

t.test('nested types, null and empty at each level', async (t) => {
  for (const [rows, pageRows, pageBytes] of [
    [5, 20000, 1 << 20],
    [3000, 700, 1 << 20],
    [3000, 20000, 300],
    [50, 1, 1],
  ] as const) {
    const batches = [nestedBatch(rows), nestedBatch(3)]
    const { bytes, result } = writeFile(nestedFields, batches, { pageRows, pageBytes })
    const file = openBytes(bytes)
    t.same(
      rowsOf(file, { types: nestedFields.map((f) => f.type) }),
      expectedRows(batches),
      `${rows} rows, pages of ${pageRows}`,
    )
    t.same(result.columns[0], { min: 0, max: rows - 1, nullCount: 0 })
    t.same(result.columns[1], { min: null, max: null, nullCount: null }, 'nested columns have no statistics')
  }
  // By a reader that shares no code with ours.
  const { bytes } = writeFile(nestedFields, [nestedBatch(5)])
  const rows = await parquetReadObjects({ file: bytes.slice().buffer, compressors })
  t.same(
    rows.map((row) => row.list),
    [null, [], [null], [1, null, 3], [4]],
  )
  t.same(
    rows.map((row) => row.deep),
    [null, [], [null], [[]], [['a'], null, [null, 'b'], []]],
  )
  t.same(
    rows.map((row) => row.row),
    [null, { x: 5, tags: null }, { x: 6, tags: [] }, { x: 7, tags: ['p', null, ''] }, { x: 8, tags: [''] }],
  )
  t.same(
    rows.map((row) => row.multi),
    [null, {}, { a: 3 }, { b: 1, c: 9 }, { '': 1 }],
  )
})

t.test('nulls where the type has none', (t) => {
  const fields: readonly Field[] = [{ id: 0, name: 'k', type: { kind: 'int', nullable: false } }]
  t.throws(() => writeFile(fields, [batchOf(fields, { k: [1, null] })]), {
    name: 'RangeError',
    message: /k is NOT NULL/,
  })
  const firm: readonly Field[] = [{ id: 0, name: 'l', type: nestedFields[2]!.type }]
  t.throws(() => writeFile(firm, [batchOf(firm, { l: [[1n, null]] })]), { name: 'RangeError', message: /NOT NULL/ })
  const map: readonly Field[] = [nestedFields[3]!]
  t.throws(() => writeFile(map, [batchOf(map, { map: [[[null, 1]]] })]), { name: 'RangeError' }, 'a null key')
  t.end()
})

t.test('the shape of the file is that of Paimon', (t) => {
  const { bytes } = writeFile(nestedFields, [nestedBatch(4)])
  const { metadata } = openBytes(bytes)
  t.equal(metadata.version, 1)
  t.equal(metadata.schema[0]!.name, 'paimon_schema')
  t.equal(metadata.createdBy, 'lakelet version 0.1.0')
  t.equal(metadata.keyValueMetadata, undefined)
  t.equal(metadata.columnOrders!.length, metadata.rowGroups[0]!.columns.length)
  t.ok(metadata.columnOrders!.every((order) => order.typeOrder))
  const ids = Object.fromEntries(metadata.schema.map((element) => [element.name, element.fieldId]))
  t.match(ids, { k: 0, list: undefined, tags: 21, x: 20 })
  const group = metadata.rowGroups[0]!
  let compressed = 0
  let uncompressed = 0
  for (const { metaData } of group.columns) {
    compressed += metaData!.totalCompressedSize
    uncompressed += metaData!.totalUncompressedSize
  }
  t.equal(group.totalCompressedSize, compressed)
  t.equal(group.totalByteSize, uncompressed)
  t.equal(group.fileOffset, 4)
  t.end()
})

t.test('every page has its CRC and lies where the offset index says', (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'id', type: { kind: 'bigint', nullable: false } },
    { id: 1, name: 'few', type: text },
    { id: 2, name: 'l', type: { kind: 'array', element: int, nullable } },
  ]
  const rows = 5000
  const at = <T>(make: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => make(i))
  const batch = batchOf(fields, {
    id: at((i) => BigInt(i) * 1000003n),
    few: at((i) => (i % 4 === 0 ? null : `few ${i % 7}`)),
    l: at((i) => Array.from({ length: i % 3 }, (_, j) => i + j)),
  })
  const { bytes } = writeFile(fields, [batch], { pageRows: 900 })
  const file = openBytes(bytes)
  for (const [c, { metaData }] of file.metadata.rowGroups[0]!.columns.entries()) {
    const { dataPageOffset, dictionaryPageOffset, totalCompressedSize, numValues, encodings } = metaData!
    const start = dictionaryPageOffset ?? dataPageOffset
    const locations = readOffsetIndex(file, 0, file.tree.leaves[c]!)!.pageLocations
    t.same(
      locations.map((l) => l.firstRowIndex),
      [0, 900, 1800, 2700, 3600, 4500],
    )
    const offsets: number[] = []
    let values = 0
    let offset = start
    while (offset < start + totalCompressedSize) {
      const reader = new ThriftReader(bytes, offset)
      const header = pageHeader.read(reader)
      const body = bytes.subarray(reader.offset, reader.offset + header.compressedPageSize)
      t.equal(header.crc! >>> 0, crc32(body))
      if (header.type === PageType.DATA_PAGE) {
        offsets.push(offset)
        values += header.dataPage!.numValues
        t.ok(encodings.includes(header.dataPage!.encoding))
        t.equal(locations[offsets.length - 1]!.compressedPageSize, reader.offset - offset + body.length)
      } else t.equal(header.dictionaryPage!.numValues, 7)
      offset = reader.offset + body.length
    }
    t.equal(offset, start + totalCompressedSize, 'pages fill the chunk')
    t.same(
      offsets,
      locations.map((l) => l.offset),
    )
    t.equal(values, numValues)
  }
  t.same(rowsOf(file), expectedRows([batch]))
  t.end()
})

t.test('several row groups, batches cut anywhere', (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
    { id: 1, name: 's', type: text },
  ]
  const part = (from: number, rows: number) =>
    batchOf(fields, {
      k: Array.from({ length: rows }, (_, i) => from + i),
      s: Array.from({ length: rows }, (_, i) => ((from + i) % 5 === 0 ? null : `value ${from + i}`)),
    })
  const batches = [part(0, 10000), part(10000, 0), part(10000, 1), part(10001, 30000)]
  const { bytes, result } = writeFile(fields, batches, { rowGroupBytes: 150_000, pageRows: 1000 })
  const file = openBytes(bytes)
  t.ok(file.metadata.rowGroups.length > 2, `${file.metadata.rowGroups.length} row groups`)
  t.equal(
    file.metadata.rowGroups.reduce((sum, group) => sum + group.numRows, 0),
    40001,
  )
  t.same(
    file.metadata.rowGroups.map((group) => group.ordinal),
    [...file.metadata.rowGroups.keys()],
  )
  t.same(rowsOf(file), expectedRows(batches))
  t.same(result.columns[0], { min: 0, max: 40000, nullCount: 0 })
  t.same(result.columns[1], { min: Buffer.from('value 1'), max: Buffer.from('value 9999'), nullCount: 8001 })
  for (let group = 0; group < file.metadata.rowGroups.length; group++) {
    for (const leaf of file.tree.leaves) {
      const index = readColumnIndex(file, group, leaf)!
      t.equal(index.nullCounts!.length, readOffsetIndex(file, group, leaf)!.pageLocations.length)
    }
  }
  t.end()
})

t.test('files without rows', (t) => {
  for (const batches of [[], [flatBatch(0)]]) {
    const { bytes, result } = writeFile(flatFields, batches)
    const file = openBytes(bytes)
    t.equal(file.rows, 0)
    t.same(rowsOf(file), [])
    t.same(result.columns[0], { min: null, max: null, nullCount: 0 })
    t.equal(parquetMetadata(bytes.slice().buffer).schema.length, flatFields.length + 1)
  }
  t.end()
})

t.test('a writer is used up by finish, and refuses batches of another width', (t) => {
  const fields: readonly Field[] = [{ id: 0, name: 'k', type: int }]
  t.throws(() => writeFile(fields, [flatBatch(3)]), { name: 'TypeError' })
  const writer = createParquetWriter({ write: () => {} }, fields, codecs, options)
  writer.finish()
  t.throws(() => writer.finish(), { message: /finished/ })
  t.throws(() => writer.write(batchOf(fields, { k: [1] })), { message: /finished/ })
  t.end()
})

t.test('dictionaries where they pay, and until they are too large', (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'distinct', type: int },
    { id: 1, name: 'few', type: int },
    { id: 2, name: 'growing', type: text },
    { id: 3, name: 'ratio', type: { kind: 'double', nullable } },
  ]
  const rows = 9000
  const at = <T>(make: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => make(i))
  const batch = batchOf(fields, {
    distinct: at((i) => Math.imul(i, 0x9e3779b1)),
    few: at((i) => i % 3),
    // The first pages repeat, the later ones never do.
    growing: at((i) => (i < 3000 ? `g${i % 50}` : `growing ${i}`)),
    ratio: at((i) => (i % 2 === 0 ? 0 : -0)),
  })
  const written = writeFile(fields, [batch], { pageRows: 1500, dictionaryPageBytes: 4000 })
  const file = openBytes(written.bytes)
  t.same(rowsOf(file), expectedRows([batch]))
  const encodings = file.metadata.rowGroups[0]!.columns.map(({ metaData }) =>
    metaData!.encodingStats!.map(({ pageType, encoding, count }) => [pageType, encoding, count]),
  )
  const { PLAIN, PLAIN_DICTIONARY } = Encoding
  t.same(encodings[0], [[PageType.DATA_PAGE, PLAIN, 6]])
  t.same(encodings[1], [
    [PageType.DICTIONARY_PAGE, PLAIN_DICTIONARY, 1],
    [PageType.DATA_PAGE, PLAIN_DICTIONARY, 6],
  ])
  t.same(encodings[2], [
    [PageType.DICTIONARY_PAGE, PLAIN_DICTIONARY, 1],
    [PageType.DATA_PAGE, PLAIN_DICTIONARY, 3],
    [PageType.DATA_PAGE, PLAIN, 3],
  ])
  t.same(encodings[3]![0], [PageType.DICTIONARY_PAGE, PLAIN_DICTIONARY, 1], 'both zeros in the dictionary')
  const ratios = rowsOf(file, { columns: ['ratio'] }).map((row) => row.ratio)
  t.ok(Object.is(ratios[0], 0) && Object.is(ratios[1], -0), 'and both come back')
  const plain = writeFile(fields, [batch], { dictionary: false })
  t.ok(
    openBytes(plain.bytes).metadata.rowGroups[0]!.columns.every((c) => c.metaData!.dictionaryPageOffset === undefined),
  )
  t.same(rowsOf(openBytes(plain.bytes)), expectedRows([batch]))
  t.end()
})

t.test('deltas for long sorted columns', async (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'seq', type: { kind: 'bigint', nullable: false } },
    { id: 1, name: 'day', type: int },
  ]
  const rows = 30_000
  const batch = batchOf(fields, {
    seq: Array.from({ length: rows }, (_, i) => 2n ** 62n + BigInt(i * 3)),
    day: Array.from({ length: rows }, (_, i) => (i % 10 === 0 ? null : i)),
  })
  const { bytes } = writeFile(fields, [batch])
  const file = openBytes(bytes)
  t.ok(bytes.length < rows, `${bytes.length} bytes`)
  t.ok(file.metadata.rowGroups[0]!.columns[0]!.metaData!.encodings.includes(Encoding.DELTA_BINARY_PACKED))
  t.same(rowsOf(file), expectedRows([batch]))
  const theirs = await parquetReadObjects({ file: bytes.slice().buffer, compressors })
  t.ok(theirs.every((row, i) => row.seq === 2n ** 62n + BigInt(i * 3) && row.day === (i % 10 === 0 ? null : i)))
})

t.test('an independent reader agrees on all flat types', async (t) => {
  const batch = flatBatch(23)
  const { bytes } = writeFile(flatFields, [batch])
  const rows = await parquetReadObjects({ file: bytes.slice().buffer, compressors, utf8: false })
  const column = (i: number): unknown[] => rows.map((row) => row[flatFields[i]!.name])
  const given = (i: number): Value[] => Array.from({ length: 23 }, (_, row) => flat[i]![1][row % flat[i]![1].length]!)
  for (const i of [0, 1, 2, 3, 4, 5, 6, 19, 20]) t.same(column(i), given(i), flatFields[i]!.name)
  t.same(column(21).slice(0, 3), [Uint8Array.of(0, 255), null, new Uint8Array(0)])
  t.equal(openBytes(bytes).tree.leaves[13]!.element.type, PhysicalType.INT96)
})

t.test('small files are about as large as those of Java', (t) => {
  const fields: readonly Field[] = [
    { id: 1073741823, name: '_KEY_id', type: { kind: 'int', nullable: false } },
    { id: 2147483646, name: '_SEQUENCE_NUMBER', type: { kind: 'bigint', nullable: false } },
    { id: 2147483645, name: '_VALUE_KIND', type: { kind: 'tinyint', nullable: false } },
    { id: 0, name: 'id', type: { kind: 'int', nullable: false } },
    { id: 1, name: 'v', type: text },
  ]
  // Sizes of the golden tables' files: rows, first sequence number, letter, bytes.
  for (const [rows, sequence, letter, java] of [
    [1, 2004, 'u', 1054],
    [4, 2000, 'u', 1149],
    [7, 2000, 'u', 1204],
    [2000, 0, 'v', 13365],
  ] as const) {
    const at = <T>(make: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => make(i))
    const batch = batchOf(fields, {
      _KEY_id: at((i) => i),
      _SEQUENCE_NUMBER: at((i) => BigInt(sequence + i)),
      _VALUE_KIND: at(() => 0),
      id: at((i) => i),
      v: at((i) => `${letter}${i}`),
    })
    const { bytes } = writeFile(fields, [batch])
    t.ok(bytes.length > java * 0.85 && bytes.length <= java, `${rows} rows: ${bytes.length} bytes, Java ${java}`)
    t.same(rowsOf(openBytes(bytes)), expectedRows([batch]))
  }
  t.end()
})
