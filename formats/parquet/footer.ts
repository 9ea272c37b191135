import { corrupt, unsupported } from '../bytes/format-error.ts'
import {
  binary,
  bool,
  decodeThrift,
  encodeThrift,
  i8,
  i16,
  i32,
  i64,
  list,
  opaque,
  optional,
  required,
  struct,
  text,
} from './thrift.ts'

/** Physical types, by their number in the file. */
export const PhysicalType = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  INT96: 3,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED_LEN_BYTE_ARRAY: 7,
} as const

/** How often a schema element occurs under its parent. */
export const Repetition = { REQUIRED: 0, OPTIONAL: 1, REPEATED: 2 } as const

/** The older annotations; files of Spark, Hive and old parquet-mr have nothing else. */
export const ConvertedType = {
  UTF8: 0,
  MAP: 1,
  MAP_KEY_VALUE: 2,
  LIST: 3,
  ENUM: 4,
  DECIMAL: 5,
  DATE: 6,
  TIME_MILLIS: 7,
  TIME_MICROS: 8,
  TIMESTAMP_MILLIS: 9,
  TIMESTAMP_MICROS: 10,
  UINT_8: 11,
  UINT_16: 12,
  UINT_32: 13,
  UINT_64: 14,
  INT_8: 15,
  INT_16: 16,
  INT_32: 17,
  INT_64: 18,
  JSON: 19,
  BSON: 20,
  INTERVAL: 21,
} as const

/** Encodings of values and levels. */
export const Encoding = {
  PLAIN: 0,
  PLAIN_DICTIONARY: 2,
  RLE: 3,
  BIT_PACKED: 4,
  DELTA_BINARY_PACKED: 5,
  DELTA_LENGTH_BYTE_ARRAY: 6,
  DELTA_BYTE_ARRAY: 7,
  RLE_DICTIONARY: 8,
  BYTE_STREAM_SPLIT: 9,
} as const

/** Compression of pages. LZ4 is Hadoop's framing; LZ4_RAW a plain block. */
export const CompressionCodec = {
  UNCOMPRESSED: 0,
  SNAPPY: 1,
  GZIP: 2,
  LZO: 3,
  BROTLI: 4,
  LZ4: 5,
  ZSTD: 6,
  LZ4_RAW: 7,
} as const

export const PageType = { DATA_PAGE: 0, INDEX_PAGE: 1, DICTIONARY_PAGE: 2, DATA_PAGE_V2: 3 } as const

export const BoundaryOrder = { UNORDERED: 0, ASCENDING: 1, DESCENDING: 2 } as const

/** A Thrift union: at most one property is set; none means an annotation this version does not know. */
export interface TimeUnit {
  readonly millis?: true
  readonly micros?: true
  readonly nanos?: true
}

export interface TimeAnnotation {
  readonly isAdjustedToUTC: boolean
  readonly unit: TimeUnit
}

/** A Thrift union: at most one property is set; none means an annotation this version does not know. */
export interface LogicalType {
  readonly string?: true
  readonly map?: true
  readonly list?: true
  readonly enum?: true
  readonly decimal?: { readonly scale: number; readonly precision: number }
  readonly date?: true
  readonly time?: TimeAnnotation
  readonly timestamp?: TimeAnnotation
  readonly integer?: { readonly bitWidth: number; readonly isSigned: boolean }
  readonly unknown?: true
  readonly json?: true
  readonly bson?: true
  readonly uuid?: true
  readonly float16?: true
  readonly variant?: true
}

/** One node of the schema, which is stored depth first: a group is followed by its `numChildren` children. */
export interface SchemaElement {
  /** Physical type; absent for groups. */
  readonly type?: number
  /** Bytes of a FIXED_LEN_BYTE_ARRAY. */
  readonly typeLength?: number
  /** Absent for the root. */
  readonly repetition?: number
  readonly name: string
  readonly numChildren?: number
  readonly convertedType?: number
  readonly scale?: number
  readonly precision?: number
  readonly fieldId?: number
  readonly logicalType?: LogicalType
}

/** Bounds of a chunk or page in PLAIN form without length prefix. `min` and `max` are the deprecated ones of unsure order. */
export interface Statistics {
  readonly max?: Uint8Array
  readonly min?: Uint8Array
  readonly nullCount?: number
  readonly distinctCount?: number
  readonly maxValue?: Uint8Array
  readonly minValue?: Uint8Array
  readonly isMaxValueExact?: boolean
  readonly isMinValueExact?: boolean
}

export interface KeyValue {
  readonly key: string
  readonly value?: string
}

export interface PageEncodingStats {
  readonly pageType: number
  readonly encoding: number
  readonly count: number
}

export interface ColumnMetaData {
  readonly type: number
  readonly encodings: readonly number[]
  /** Names from below the root to the leaf. */
  readonly path: readonly string[]
  readonly codec: number
  /** Values with nulls; for nested columns, also one for each empty list. */
  readonly numValues: number
  readonly totalUncompressedSize: number
  /** Bytes of all pages with their headers. */
  readonly totalCompressedSize: number
  readonly keyValueMetadata?: readonly KeyValue[]
  readonly dataPageOffset: number
  readonly indexPageOffset?: number
  readonly dictionaryPageOffset?: number
  readonly statistics?: Statistics
  readonly encodingStats?: readonly PageEncodingStats[]
  readonly bloomFilterOffset?: number
  readonly bloomFilterLength?: number
}

export interface ColumnChunk {
  readonly filePath?: string
  readonly fileOffset: number
  readonly metaData?: ColumnMetaData
  readonly offsetIndexOffset?: number
  readonly offsetIndexLength?: number
  readonly columnIndexOffset?: number
  readonly columnIndexLength?: number
  /** Present when the chunk is encrypted. */
  readonly crypto?: true
}

export interface SortingColumn {
  readonly columnIndex: number
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface RowGroup {
  readonly columns: readonly ColumnChunk[]
  readonly totalByteSize: number
  readonly numRows: number
  readonly sortingColumns?: readonly SortingColumn[]
  readonly fileOffset?: number
  readonly totalCompressedSize?: number
  readonly ordinal?: number
}

/** A Thrift union. Bounds in `minValue` and `maxValue` are in the order of the type when `typeOrder` is set. */
export interface ColumnOrder {
  readonly typeOrder?: true
}

export interface FileMetaData {
  readonly version: number
  readonly schema: readonly SchemaElement[]
  readonly numRows: number
  readonly rowGroups: readonly RowGroup[]
  readonly keyValueMetadata?: readonly KeyValue[]
  readonly createdBy?: string
  readonly columnOrders?: readonly ColumnOrder[]
}

export interface DataPageHeader {
  readonly numValues: number
  readonly encoding: number
  readonly definitionLevelEncoding: number
  readonly repetitionLevelEncoding: number
  readonly statistics?: Statistics
}

export interface DataPageHeaderV2 {
  readonly numValues: number
  readonly numNulls: number
  readonly numRows: number
  readonly encoding: number
  readonly definitionLevelsByteLength: number
  readonly repetitionLevelsByteLength: number
  /** Absent means true. */
  readonly isCompressed?: boolean
  readonly statistics?: Statistics
}

export interface DictionaryPageHeader {
  readonly numValues: number
  readonly encoding: number
  readonly isSorted?: boolean
}

export interface PageHeader {
  readonly type: number
  readonly uncompressedPageSize: number
  readonly compressedPageSize: number
  /** CRC-32 of the page as stored, as a signed integer. */
  readonly crc?: number
  readonly dataPage?: DataPageHeader
  readonly dictionaryPage?: DictionaryPageHeader
  readonly dataPageV2?: DataPageHeaderV2
}

/** Bounds of each data page of a chunk. */
export interface ColumnIndex {
  readonly nullPages: readonly boolean[]
  readonly minValues: readonly Uint8Array[]
  readonly maxValues: readonly Uint8Array[]
  readonly boundaryOrder: number
  readonly nullCounts?: readonly number[]
}

export interface PageLocation {
  readonly offset: number
  /** Bytes with the page header. */
  readonly compressedPageSize: number
  /** Counted within the row group. */
  readonly firstRowIndex: number
}

/** Where each data page of a chunk lies. */
export interface OffsetIndex {
  readonly pageLocations: readonly PageLocation[]
}

const timeUnit = struct<TimeUnit>('TimeUnit', {
  millis: optional(1, opaque),
  micros: optional(2, opaque),
  nanos: optional(3, opaque),
})
const timeAnnotation = struct<TimeAnnotation>('TimeType', {
  isAdjustedToUTC: required(1, bool),
  unit: required(2, timeUnit),
})
const decimalAnnotation = struct<{ readonly scale: number; readonly precision: number }>('DecimalType', {
  scale: required(1, i32),
  precision: required(2, i32),
})
const integerAnnotation = struct<{ readonly bitWidth: number; readonly isSigned: boolean }>('IntType', {
  bitWidth: required(1, i8),
  isSigned: required(2, bool),
})
const logicalType = struct<LogicalType>('LogicalType', {
  string: optional(1, opaque),
  map: optional(2, opaque),
  list: optional(3, opaque),
  enum: optional(4, opaque),
  decimal: optional(5, decimalAnnotation),
  date: optional(6, opaque),
  time: optional(7, timeAnnotation),
  timestamp: optional(8, timeAnnotation),
  integer: optional(10, integerAnnotation),
  unknown: optional(11, opaque),
  json: optional(12, opaque),
  bson: optional(13, opaque),
  uuid: optional(14, opaque),
  float16: optional(15, opaque),
  variant: optional(16, opaque),
})
const schemaElement = struct<SchemaElement>('SchemaElement', {
  type: optional(1, i32),
  typeLength: optional(2, i32),
  repetition: optional(3, i32),
  name: required(4, text),
  numChildren: optional(5, i32),
  convertedType: optional(6, i32),
  scale: optional(7, i32),
  precision: optional(8, i32),
  fieldId: optional(9, i32),
  logicalType: optional(10, logicalType),
})
const statistics = struct<Statistics>('Statistics', {
  max: optional(1, binary),
  min: optional(2, binary),
  nullCount: optional(3, i64),
  distinctCount: optional(4, i64),
  maxValue: optional(5, binary),
  minValue: optional(6, binary),
  isMaxValueExact: optional(7, bool),
  isMinValueExact: optional(8, bool),
})
const keyValue = struct<KeyValue>('KeyValue', { key: required(1, text), value: optional(2, text) })
const pageEncodingStats = struct<PageEncodingStats>('PageEncodingStats', {
  pageType: required(1, i32),
  encoding: required(2, i32),
  count: required(3, i32),
})
const columnMetaData = struct<ColumnMetaData>('ColumnMetaData', {
  type: required(1, i32),
  encodings: required(2, list(i32)),
  path: required(3, list(text)),
  codec: required(4, i32),
  numValues: required(5, i64),
  totalUncompressedSize: required(6, i64),
  totalCompressedSize: required(7, i64),
  keyValueMetadata: optional(8, list(keyValue)),
  dataPageOffset: required(9, i64),
  indexPageOffset: optional(10, i64),
  dictionaryPageOffset: optional(11, i64),
  statistics: optional(12, statistics),
  encodingStats: optional(13, list(pageEncodingStats)),
  bloomFilterOffset: optional(14, i64),
  bloomFilterLength: optional(15, i32),
})
const columnChunk = struct<ColumnChunk>('ColumnChunk', {
  filePath: optional(1, text),
  fileOffset: required(2, i64),
  metaData: optional(3, columnMetaData),
  offsetIndexOffset: optional(4, i64),
  offsetIndexLength: optional(5, i32),
  columnIndexOffset: optional(6, i64),
  columnIndexLength: optional(7, i32),
  crypto: optional(8, opaque),
})
const sortingColumn = struct<SortingColumn>('SortingColumn', {
  columnIndex: required(1, i32),
  descending: required(2, bool),
  nullsFirst: required(3, bool),
})
const rowGroup = struct<RowGroup>('RowGroup', {
  columns: required(1, list(columnChunk)),
  totalByteSize: required(2, i64),
  numRows: required(3, i64),
  sortingColumns: optional(4, list(sortingColumn)),
  fileOffset: optional(5, i64),
  totalCompressedSize: optional(6, i64),
  ordinal: optional(7, i16),
})
const columnOrder = struct<ColumnOrder>('ColumnOrder', { typeOrder: optional(1, opaque) })
const fileMetaData = struct<FileMetaData>('FileMetaData', {
  version: required(1, i32),
  schema: required(2, list(schemaElement)),
  numRows: required(3, i64),
  rowGroups: required(4, list(rowGroup)),
  keyValueMetadata: optional(5, list(keyValue)),
  createdBy: optional(6, text),
  columnOrders: optional(7, list(columnOrder)),
})
const dataPageHeader = struct<DataPageHeader>('DataPageHeader', {
  numValues: required(1, i32),
  encoding: required(2, i32),
  definitionLevelEncoding: required(3, i32),
  repetitionLevelEncoding: required(4, i32),
  statistics: optional(5, statistics),
})
const dataPageHeaderV2 = struct<DataPageHeaderV2>('DataPageHeaderV2', {
  numValues: required(1, i32),
  numNulls: required(2, i32),
  numRows: required(3, i32),
  encoding: required(4, i32),
  definitionLevelsByteLength: required(5, i32),
  repetitionLevelsByteLength: required(6, i32),
  isCompressed: optional(7, bool),
  statistics: optional(8, statistics),
})
const dictionaryPageHeader = struct<DictionaryPageHeader>('DictionaryPageHeader', {
  numValues: required(1, i32),
  encoding: required(2, i32),
  isSorted: optional(3, bool),
})
const columnIndex = struct<ColumnIndex>('ColumnIndex', {
  nullPages: required(1, list(bool)),
  minValues: required(2, list(binary)),
  maxValues: required(3, list(binary)),
  boundaryOrder: required(4, i32),
  nullCounts: optional(5, list(i64)),
})
const pageLocation = struct<PageLocation>('PageLocation', {
  offset: required(1, i64),
  compressedPageSize: required(2, i32),
  firstRowIndex: required(3, i64),
})
const offsetIndex = struct<OffsetIndex>('OffsetIndex', { pageLocations: required(1, list(pageLocation)) })

/** How a page header lies in the file; read through a `ThriftReader` to learn its length. */
export const pageHeader = struct<PageHeader>('PageHeader', {
  type: required(1, i32),
  uncompressedPageSize: required(2, i32),
  compressedPageSize: required(3, i32),
  crc: optional(4, i32),
  dataPage: optional(5, dataPageHeader),
  dictionaryPage: optional(7, dictionaryPageHeader),
  dataPageV2: optional(8, dataPageHeaderV2),
})

/** `PAR1`, at both ends of a file. */
export const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31)

/** Bytes after the metadata: its length as a little-endian int32, then `PAR1`. */
export const TAIL_BYTES = 8

/** Length of the metadata in front of the last 8 bytes of a file; `tail` holds at least these. */
export function footerLength(tail: Uint8Array, fileBytes: number): number {
  const end = tail.length
  const magic = String.fromCharCode(...tail.subarray(Math.max(0, end - 4)))
  if (magic === 'PARE') throw unsupported('Parquet file with an encrypted footer')
  if (end < TAIL_BYTES || magic !== 'PAR1') {
    throw corrupt(`Parquet file of ${fileBytes} bytes does not end in PAR1`)
  }
  const length = new DataView(tail.buffer, tail.byteOffset + end - TAIL_BYTES, 4).getUint32(0, true)
  if (length > fileBytes - TAIL_BYTES - MAGIC.length) {
    throw corrupt(`Parquet footer claims ${length} bytes in a file of ${fileBytes}`)
  }
  return length
}

/** The metadata of a file from its bytes, without length and magic. */
export function decodeFileMetaData(bytes: Uint8Array): FileMetaData {
  return decodeThrift(fileMetaData, bytes)
}

/** The metadata alone: the length and `PAR1` follow it in a file. */
export function encodeFileMetaData(metadata: FileMetaData): Uint8Array {
  return encodeThrift(fileMetaData, metadata)
}

export function encodePageHeader(header: PageHeader): Uint8Array {
  return encodeThrift(pageHeader, header)
}

export function decodeColumnIndex(bytes: Uint8Array): ColumnIndex {
  return decodeThrift(columnIndex, bytes)
}

export function encodeColumnIndex(index: ColumnIndex): Uint8Array {
  return encodeThrift(columnIndex, index)
}

export function decodeOffsetIndex(bytes: Uint8Array): OffsetIndex {
  return decodeThrift(offsetIndex, bytes)
}

export function encodeOffsetIndex(index: OffsetIndex): Uint8Array {
  return encodeThrift(offsetIndex, index)
}
