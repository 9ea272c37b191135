import { crc32 } from '../bytes/crc32.ts'
import { corrupt, unsupported } from '../bytes/format-error.ts'
import { decodeRoaring } from './roaring.ts'

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
 * (docs/format/deletion-vector.md). `rows`: those of the data file; positions must be below. Checks CRC, lengths and the number
 * of rows. Throws CORRUPT, UNSUPPORTED for another version or bitmap.
 */
export function decodeDeletionVector(file: Uint8Array, range: VectorRange, rows: number): Uint32Array {
  const what = `deletion vector at byte ${range.offset}`
  if (file[0] !== FILE_VERSION) throw unsupported(`deletion vectors of version ${file[0]}, known is ${FILE_VERSION}`)
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const { offset } = range
  if (offset < 1 || offset + LENGTH_BYTES + MAGIC_BYTES > file.length) {
    throw corrupt(`${what}: not inside the ${file.length} bytes of the file`)
  }
  const length = view.getInt32(offset)
  const start = offset + LENGTH_BYTES
  if (length < MAGIC_BYTES || start + length + CRC_BYTES > file.length) {
    throw corrupt(`${what}: a length of ${length}, but ${file.length - start} bytes are left`)
  }
  const wide = view.getUint32(start, true) === MAGIC_64
  if (!wide && view.getUint32(start) !== MAGIC_32) throw unsupported(`${what}: unknown bitmap ${view.getUint32(start)}`)
  // Paimon states the length field for the one kind, the whole blob for the other.
  const stated = wide ? length + LENGTH_BYTES + CRC_BYTES : length
  if (range.length !== stated) throw corrupt(`${what}: expected a length of ${range.length}, found ${stated}`)
  const body = file.subarray(start, start + length)
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
