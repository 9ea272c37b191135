import { crc32 } from '../bytes/crc32.ts'
import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { ByteSource } from '../bytes/source.ts'
import { ByteWriter } from '../bytes/writer.ts'
import { decodeRoaring } from './roaring.ts'
import { encodeRoaring } from './roaring-encode.ts'

const FILE_VERSION = 1
/** Big-endian, before one 32-bit bitmap. */
const MAGIC_32 = 1581511376
/** Little-endian, before a 64-bit bitmap: 32-bit ones under a high key each. */
const MAGIC_64 = 1681511377
const LENGTH_BYTES = 4
const MAGIC_BYTES = 4
const CRC_BYTES = 4

/** Where a vector lies, as the index manifest says: `offset` is that of its length field. */
export interface VectorRange {
  readonly offset: number
  readonly length: number
  /** Deleted rows; null = not stated. */
  readonly cardinality: number | null
}

/**
 * The deleted row positions of one data file, ascending, from an index file of type DELETION_VECTORS
 * (docs/format/deletion-vector.md). `rows`: those of the data file; positions must be below. Reads the vector, not the file. Checks
 * CRC, lengths and the number of rows. Throws CORRUPT, UNSUPPORTED for another version or bitmap.
 */
export function readDeletionVector(file: ByteSource, range: VectorRange, rows: number): Uint32Array {
  const what = `deletion vector at byte ${range.offset}`
  const { offset } = range
  const left = file.bytes - offset - LENGTH_BYTES
  if (offset < 1 || left < MAGIC_BYTES) throw corrupt(`${what}: not inside the ${file.bytes} bytes of the file`)
  const [version] = file.read(0, 1)
  if (version !== FILE_VERSION) throw unsupported(`deletion vectors of version ${version}, known is ${FILE_VERSION}`)
  const blob = file.read(offset, Math.min(left, Math.max(MAGIC_BYTES, range.length + CRC_BYTES)) + LENGTH_BYTES)
  return decodeBlob(blob, range, rows, left, what)
}

function decodeBlob(blob: Uint8Array, range: VectorRange, rows: number, left: number, what: string): Uint32Array {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const length = view.getInt32(0)
  const start = LENGTH_BYTES
  if (length < MAGIC_BYTES || length + CRC_BYTES > left) {
    throw corrupt(`${what}: a length of ${length}, but ${left} bytes are left`)
  }
  const wide = view.getUint32(start, true) === MAGIC_64
  if (!wide && view.getUint32(start) !== MAGIC_32) throw unsupported(`${what}: unknown bitmap ${view.getUint32(start)}`)
  // Paimon states the length field for the one kind, the whole blob for the other.
  const stated = wide ? length + LENGTH_BYTES + CRC_BYTES : length
  if (range.length !== stated) throw corrupt(`${what}: expected a length of ${range.length}, found ${stated}`)
  const body = blob.subarray(start, start + length)
  const expected = view.getUint32(start + length)
  const actual = crc32(body)
  if (actual !== expected)
    throw corrupt(`${what}: expected the CRC ${expected.toString(16)}, found ${actual.toString(16)}`)

  const bitmap = body.subarray(MAGIC_BYTES)
  const positions = decodeRoaring(wide ? lowBitmap(bitmap, what) : bitmap, rows)
  if (range.cardinality !== null && positions.length !== range.cardinality) {
    throw corrupt(`${what}: expected ${range.cardinality} rows, found ${positions.length}`)
  }
  return positions
}

const EMPTY_BITMAP = Uint8Array.of(0x3a, 0x30, 0, 0, 0, 0, 0, 0)

/** The 32-bit bitmap of high key 0: a data file never has 2^32 rows. */
function lowBitmap(bytes: Uint8Array, what: string): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 8) throw corrupt(`${what}: the data ends inside the number of bitmaps`)
  const bitmaps = view.getBigUint64(0, true)
  if (bitmaps === 0n && bytes.length === 8) return EMPTY_BITMAP
  if (bitmaps !== 1n || bytes.length < 12)
    throw corrupt(`${what}: ${bitmaps} bitmaps in ${bytes.length} bytes, expected one`)
  const key = view.getUint32(8, true)
  if (key !== 0) throw corrupt(`${what}: rows beyond 2^32 (high key ${key})`)
  return bytes.subarray(12)
}

/** The deleted rows of a data file. */
export interface FileVector {
  readonly dataFile: string
  /** Ascending. */
  readonly positions: Uint32Array
}

interface FileRange extends VectorRange {
  readonly dataFile: string
}

/** An index file of vectors, without gaps and in their order, and where each lies. `wide`: 64-bit bitmaps. */
export function encodeDeletionVectors(
  vectors: readonly FileVector[],
  wide: boolean,
): { readonly file: Uint8Array; readonly ranges: readonly FileRange[] } {
  const out = new ByteWriter()
  out.u8(FILE_VERSION)
  const ranges = vectors.map(({ dataFile, positions }): FileRange => {
    const body = new ByteWriter()
    if (wide) {
      body.i32le(MAGIC_64)
      body.i64le(1n)
      body.i32le(0)
    } else body.i32be(MAGIC_32)
    body.bytes(encodeRoaring(positions))
    const offset = out.length
    out.i32be(body.length)
    out.bytes(body.peek())
    out.i32be(crc32(body.peek()))
    const length = wide ? out.length - offset : body.length
    return { dataFile, offset, length, cardinality: positions.length }
  })
  return { file: out.finish(), ranges }
}
