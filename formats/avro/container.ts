import { corrupt, FormatError } from '../bytes/format-error.ts'
import { avroCodecName, type BlockCodecs, blockCodec } from './block-codec.ts'
import { AvroReader, AvroWriter } from './cursor.ts'
import type { Layout, Read } from './records.ts'
import { parseAvroSchema } from './schema.ts'

const MAGIC = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01)
const SYNC_BYTES = 16
/** Uncompressed bytes after which a block is closed: the default of Avro's own writer, so of Paimon's files. */
const BLOCK_BYTES = 64000

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const utf8 = new TextEncoder()

interface Header {
  /** JSON. */
  readonly schema: string
  readonly codec: string
  readonly sync: Uint8Array
}

/**
 * All records of an Avro object container file, read as `layout` says. The whole file is in memory; the blocks are
 * decompressed one after another. Byte arrays in the records are views of their block.
 *
 * Files of ours carry a checksum of their bytes and of the name they were written under, which is verified: `name` is that of this
 * file. One of another writer that was cut between two blocks looks whole: compare the
 * number of records with what names the file.
 */
export function decodeContainer<T>(file: Uint8Array, layout: Layout<T>, codecs: BlockCodecs, name = ''): T[] {
  const input = new AvroReader(file, 'Avro file')
  const { schema, codec: codecName, sync } = readHeader(input)
  const checksum = isChecksum(sync) ? new SyncMarker() : undefined
  checksum?.update(file.subarray(0, input.position - SYNC_BYTES))
  const read = resolved(layout, schema)
  const codec = blockCodec(codecName, codecs)
  const records: T[] = []
  while (input.remaining > 0) {
    const start = input.position
    const place = `Avro block at byte ${start}`
    const rows = input.number()
    if (rows < 0) throw input.error(`a block of ${rows} records`, start)
    const packed = input.bytes()
    checksum?.update(packed)
    if (!equal(input.take(SYNC_BYTES, 'a sync marker'), sync)) {
      throw input.error('the sync marker differs from the one of the header', input.position - SYNC_BYTES)
    }
    const block = new AvroReader(
      unpack(() => codec.decompress(packed, place), place),
      `${place}, decompressed`,
    )
    for (let row = 0; row < rows; row++) {
      if (block.remaining === 0) throw block.error(`the block ends after ${row} of ${rows} records`)
      records.push(read(block))
    }
    if (block.remaining > 0) throw block.error(`${block.remaining} bytes after the last of ${rows} records`)
  }
  if (checksum !== undefined && !equal(checksum.finish(name), sync)) {
    throw input.error(`bytes and name do not have the checksum that the sync marker holds: damaged, or not ${name}`, 0)
  }
  return records
}

/**
 * An Avro object container file with these records, in the order given. `compression` is zstd, snappy, deflate or none.
 * The sync marker is a checksum of header, blocks and `name`, the name of the file: equal input gives equal bytes.
 */
export function encodeContainer<T>(
  records: readonly T[],
  layout: Layout<T>,
  rootName: string,
  codecs: BlockCodecs,
  compression: string,
  name = '',
): Uint8Array {
  const codecName = avroCodecName(compression)
  const codec = blockCodec(codecName, codecs)
  const start = startOf(layout, rootName, codecName)
  const sync = new SyncMarker(start.hash)
  const blocks: { readonly rows: number; readonly packed: Uint8Array }[] = []
  const block = new AvroWriter()
  let rows = 0
  for (const [i, record] of records.entries()) {
    layout.write(block, record)
    rows++
    if (block.length < BLOCK_BYTES && i < records.length - 1) continue
    const plain = block.written()
    const packed = codec.compress(plain)
    sync.update(packed)
    // The writer's memory is used again: what the codec passed through must be copied.
    blocks.push({ rows, packed: packed.buffer === plain.buffer ? packed.slice() : packed })
    block.clear()
    rows = 0
  }
  const marker = sync.finish(name)
  const file = new AvroWriter(blocks.reduce((bytes, { packed }) => bytes + packed.length + 32, start.bytes.length + 16))
  file.raw(start.bytes)
  file.raw(marker)
  for (const { rows, packed } of blocks) {
    file.number(rows)
    file.bytes(packed)
    file.raw(marker)
  }
  return file.written()
}

/** A file up to the sync marker of its header, and the hash of these bytes. */
interface FileStart {
  readonly rootName: string
  readonly codecName: string
  readonly bytes: Uint8Array
  readonly hash: Uint32Array
}

/** What files of each layout began with last: the schema makes up most of a small file, and is the same in all. */
const lastStarts = new WeakMap<object, FileStart>()

function startOf<T>(layout: Layout<T>, rootName: string, codecName: string): FileStart {
  const last = lastStarts.get(layout)
  if (last?.rootName === rootName && last.codecName === codecName) return last
  const header = new AvroWriter()
  header.raw(MAGIC)
  header.number(2)
  header.string('avro.schema')
  header.bytes(utf8.encode(JSON.stringify(layout.schema(rootName))))
  header.string('avro.codec')
  header.bytes(utf8.encode(codecName))
  header.number(0)
  const sync = new SyncMarker()
  sync.update(header.written())
  const start = { rootName, codecName, bytes: header.written().slice(), hash: sync.lanes }
  lastStarts.set(layout, start)
  return start
}

/** What each layout was resolved against last: the files of a table nearly all have one schema. */
const lastResolved = new WeakMap<object, { readonly schema: string; readonly read: Read<unknown> }>()

function resolved<T>(layout: Layout<T>, schema: string): Read<T> {
  const last = lastResolved.get(layout)
  if (last?.schema === schema) return last.read as Read<T>
  const read = layout.resolve(parseAvroSchema(schema), 'the record')
  lastResolved.set(layout, { schema, read })
  return read
}

function readHeader(input: AvroReader): Header {
  if (!equal(input.take(MAGIC.length, 'the magic number'), MAGIC))
    throw input.error('not an Avro file: expected "Obj" 01', 0)
  let schema: Uint8Array | undefined
  let codec: Uint8Array | undefined
  for (let items = input.blockCount(); items > 0; items = input.blockCount()) {
    for (let i = 0; i < items; i++) {
      const key = input.string()
      const value = input.bytes()
      if (key === 'avro.schema') schema = value
      if (key === 'avro.codec') codec = value
    }
  }
  if (schema === undefined) throw input.error('the header has no avro.schema')
  const sync = input.take(SYNC_BYTES, 'the sync marker')
  return {
    schema: text(schema, 'avro.schema'),
    codec: codec === undefined ? 'null' : text(codec, 'avro.codec'),
    sync,
  }
}

function text(bytes: Uint8Array, what: string): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (cause) {
    throw corrupt(`${what} is not UTF-8`, cause)
  }
}

/** Adds the block to what the codec says. */
function unpack(decompress: () => Uint8Array, place: string): Uint8Array {
  try {
    return decompress()
  } catch (cause) {
    if (!(cause instanceof FormatError) || cause.message.startsWith(place)) throw cause
    throw new FormatError(cause.code, `${place}: ${cause.message}`, { cause })
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

/** The last bytes of a sync marker that is a checksum; those of other writers are random. */
const CHECKSUM_MARK = 0x4c4b4c54
const MARK_AT = SYNC_BYTES - 4

function isChecksum(sync: Uint8Array): boolean {
  return new DataView(sync.buffer, sync.byteOffset).getUint32(MARK_AT) === CHECKSUM_MARK
}

/**
 * Four multiplicative hashes side by side, of which three make the marker: a bit that flipped changes the first for sure. It has to
 * differ from what records hold and to find damage, not to resist anyone.
 */
class SyncMarker {
  readonly lanes: Uint32Array

  /** Goes on from the lanes of another, which stay as they are. */
  constructor(from: ArrayLike<number> = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f]) {
    this.lanes = Uint32Array.from(from)
  }

  update(bytes: Uint8Array): void {
    let [a, b, c, d] = this.lanes as unknown as [number, number, number, number]
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!
      a = Math.imul(a ^ byte, 0x01000193)
      b = Math.imul(b + byte, 0x9e3779b1) ^ (b >>> 15)
      c = Math.imul(c ^ a, 0x85ebca6b) ^ (c >>> 13)
      d = Math.imul(d + b, 0xc2b2ae35) ^ (d >>> 16)
    }
    this.lanes.set([a, b, c, d])
  }

  /** The marker of a file with this name. */
  finish(name: string): Uint8Array {
    this.update(utf8.encode(name))
    const marker = new Uint8Array(SYNC_BYTES)
    const view = new DataView(marker.buffer)
    const [a, b, c, d] = this.lanes as unknown as [number, number, number, number]
    for (const [i, lane] of [a, b ^ d, c].entries()) {
      view.setUint32(i * 4, Math.imul(lane ^ (lane >>> 15), 0x2c1b3c6d))
    }
    view.setUint32(MARK_AT, CHECKSUM_MARK)
    return marker
  }
}
