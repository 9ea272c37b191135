import { corrupt, unsupported } from '../bytes/format-error.ts'
import { ByteStreamSplitDecoder } from './byte-stream-split.ts'
import { DeltaDecoder } from './delta.ts'
import { DeltaLengthDecoder, DeltaStringsDecoder } from './delta-strings.ts'
import { BytesDictionaryDecoder, FixedDictionaryDecoder } from './dictionary.ts'
import { Encoding, PhysicalType, type SchemaElement } from './footer.ts'
import { PlainBooleanDecoder, PlainBytesDecoder, PlainFixedDecoder } from './plain.ts'
import { RleDecoder } from './rle.ts'
import { BytesBuffer, FixedBuffer, type ValueBuffer, type ValueDecoder } from './value-buffer.ts'

/** Bytes of one value in a `FixedBuffer`; 0 for byte strings. */
function valueWidth(element: SchemaElement): number {
  switch (element.type) {
    case PhysicalType.BOOLEAN:
      return 1
    case PhysicalType.INT32:
    case PhysicalType.FLOAT:
      return 4
    case PhysicalType.INT64:
    case PhysicalType.DOUBLE:
      return 8
    case PhysicalType.INT96:
      return 12
    case PhysicalType.FIXED_LEN_BYTE_ARRAY:
      return element.typeLength ?? 0
    default:
      return 0
  }
}

/** An empty buffer for values of a column. */
export function createBuffer(element: SchemaElement, capacity: number, bytes = 0): ValueBuffer {
  const width = valueWidth(element)
  return width === 0 ? new BytesBuffer(capacity, bytes) : new FixedBuffer(width, capacity)
}

/** The values of a dictionary page. Every value of a string dictionary takes at least the 4 bytes of its length. */
export function decodeDictionary(element: SchemaElement, bytes: Uint8Array, count: number): ValueBuffer {
  const width = valueWidth(element)
  if (element.type === PhysicalType.BOOLEAN) throw corrupt('dictionary page in a column of booleans')
  if (count < 0 || count * (width === 0 ? 4 : width) > bytes.length) {
    throw corrupt(`dictionary page claims ${count} values in ${bytes.length} bytes`)
  }
  const buffer = createBuffer(element, count, bytes.length + 16)
  plain(element, bytes, 0).read(buffer, count)
  return buffer
}

function plain(element: SchemaElement, bytes: Uint8Array, start: number): ValueDecoder {
  const width = valueWidth(element)
  if (width === 0) return new PlainBytesDecoder(bytes, start) as ValueDecoder
  if (element.type === PhysicalType.BOOLEAN) return new PlainBooleanDecoder(bytes, start) as ValueDecoder
  return new PlainFixedDecoder(bytes, start, width) as ValueDecoder
}

/**
 * The decoder for values of a page that start at `start`. It fits the buffer that `createBuffer` makes for the same column.
 * CORRUPT when the encoding cannot hold the type, UNSUPPORTED when it is unknown.
 */
export function createDecoder(
  element: SchemaElement,
  encoding: number,
  bytes: Uint8Array,
  start: number,
  dictionary: ValueBuffer | undefined,
): ValueDecoder {
  const { type = -1 } = element
  const width = valueWidth(element)
  const numeric = type === PhysicalType.INT32 || type === PhysicalType.INT64
  switch (encoding) {
    case Encoding.PLAIN:
      return plain(element, bytes, start)
    case Encoding.PLAIN_DICTIONARY:
    case Encoding.RLE_DICTIONARY:
      if (dictionary === undefined) throw corrupt('page has dictionary values, but the chunk has no dictionary')
      return dictionary.kind === 'bytes'
        ? (new BytesDictionaryDecoder(bytes, start, dictionary) as ValueDecoder)
        : (new FixedDictionaryDecoder(bytes, start, dictionary) as ValueDecoder)
    case Encoding.RLE:
      if (type === PhysicalType.BOOLEAN) return new RleBooleanDecoder(bytes, start) as ValueDecoder
      break
    case Encoding.DELTA_BINARY_PACKED:
      if (numeric) return new DeltaDecoder(bytes, start, width) as ValueDecoder
      break
    case Encoding.DELTA_LENGTH_BYTE_ARRAY:
      if (width === 0) return new DeltaLengthDecoder(bytes, start) as ValueDecoder
      break
    case Encoding.DELTA_BYTE_ARRAY:
      if (width === 0 || type === PhysicalType.FIXED_LEN_BYTE_ARRAY) return new DeltaStringsDecoder(bytes, start)
      break
    case Encoding.BYTE_STREAM_SPLIT:
      if (width > 1 || type === PhysicalType.FIXED_LEN_BYTE_ARRAY) {
        return new ByteStreamSplitDecoder(bytes, start, width) as ValueDecoder
      }
      break
    default:
      throw unsupported(`Parquet encoding ${encoding}`)
  }
  throw corrupt(`Parquet encoding ${encoding} in a column of physical type ${type}`)
}

/** RLE booleans: a 4-byte length, then runs of one bit. */
class RleBooleanDecoder implements ValueDecoder<FixedBuffer> {
  private readonly runs: RleDecoder

  constructor(bytes: Uint8Array, start: number) {
    if (bytes.length - start < 4) throw corrupt(`page of ${bytes.length} bytes has no length of its booleans`)
    const length = new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0, true)
    if (length > bytes.length - start - 4) {
      throw corrupt(`booleans claim ${length} bytes, ${bytes.length - start - 4} are left in the page`)
    }
    this.runs = new RleDecoder(bytes, start + 4, start + 4 + length, 1)
  }

  read(out: FixedBuffer, count: number): void {
    out.reserve(count)
    this.runs.read(out.bytes, out.length, count, 1)
    out.length += count
  }

  skip(count: number): void {
    this.runs.skip(count)
  }
}
