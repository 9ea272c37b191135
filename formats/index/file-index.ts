import { corrupt, unsupported } from '../bytes/format-error.ts'
import { ByteReader } from '../bytes/reader.ts'
import type { Scalar } from '../column/column.ts'
import type { DataType } from '../types/row-type.ts'
import { type BloomFilter, bloomHash, bloomMightContain, decodeBloomFilter } from './bloom-filter.ts'

const MAGIC = 1493475289347502n
const VERSION = 1

const BLOOM_FILTER = 'bloom-filter'

/** What the indexes of one data file say of one column. Index types that this version does not read say nothing. */
interface ColumnIndex {
  /** No row of the file has a value: the writer had nothing to index. */
  readonly empty: boolean
  readonly bloom: BloomFilter | undefined
}

/** Indexes of one data file by column: from the manifest entry, or from the file `<data file>.index`. */
export type FileIndex = ReadonlyMap<string, ColumnIndex>

/**
 * Decodes a file index (docs/format/file-index.md). Only bloom filters are kept, without copying; other index types are skipped.
 * Throws CORRUPT when a part lies outside the bytes, UNSUPPORTED for a newer version.
 */
export function readFileIndex(bytes: Uint8Array): FileIndex {
  const reader = new ByteReader(bytes)
  if (reader.i64be() !== MAGIC) throw corrupt('file index does not start with its magic number')
  const version = reader.i32be()
  if (version !== VERSION) throw unsupported(`file index of version ${version}`)
  const headBytes = reader.i32be()
  const head = new ByteReader(bytes, reader.position, headBytes)
  const columns = new Map<string, ColumnIndex>()
  for (let left = head.i32be(); left > 0; left--) {
    const name = readName(head)
    columns.set(name, readColumn(bytes, head, name))
  }
  return columns
}

/**
 * False when the index proves that no row of the file has this value in the column. The type is that of the column in the file
 * and the value is in its unit. True when the index does not know the column, or nothing of use about it.
 */
export function indexMightContain(index: FileIndex, column: string, type: DataType, value: Scalar): boolean {
  const known = index.get(column)
  if (known === undefined) return true
  if (known.empty) return false
  const hash = known.bloom === undefined ? undefined : bloomHash(type, value)
  return known.bloom === undefined || hash === undefined || bloomMightContain(known.bloom, hash)
}

function readColumn(bytes: Uint8Array, head: ByteReader, name: string): ColumnIndex {
  let bloom: BloomFilter | undefined
  let empty = false
  for (let left = head.i32be(); left > 0; left--) {
    const type = readName(head)
    const start = head.i32be()
    const length = head.i32be()
    if (start === -1) {
      empty = true
      continue
    }
    if (start < 0 || length < 0 || start + length > bytes.length) {
      throw corrupt(`index ${type} of column ${name}: ${length} bytes at ${start} are not inside ${bytes.length}`)
    }
    if (type === BLOOM_FILTER) bloom = decodeBloomFilter(bytes.subarray(start, start + length))
  }
  return { empty, bloom }
}

/**
 * Text as Java's `writeUTF` stores it: a length of two bytes, then each UTF-16 unit in UTF-8 form on its own. So NUL is two
 * bytes and a character outside the first plane is two units of three bytes.
 */
function readName(reader: ByteReader): string {
  const end = reader.u16be() + reader.position
  let text = ''
  while (reader.position < end) {
    const first = reader.u8()
    if (first < 0x80) text += String.fromCharCode(first)
    else if (first >> 5 === 0b110) text += String.fromCharCode(((first & 0x1f) << 6) | continuation(reader))
    else if (first >> 4 === 0b1110) {
      const middle = continuation(reader)
      text += String.fromCharCode(((first & 0x0f) << 12) | (middle << 6) | continuation(reader))
    } else throw corrupt(`text at offset ${reader.position - 1} starts with byte ${first}`)
  }
  if (reader.position !== end) throw corrupt(`text ends at offset ${reader.position}, expected ${end}`)
  return text
}

function continuation(reader: ByteReader): number {
  const byte = reader.u8()
  if (byte >> 6 !== 0b10) throw corrupt(`text at offset ${reader.position - 1} goes on with byte ${byte}`)
  return byte & 0x3f
}
