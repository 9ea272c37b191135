import { crc32 } from '../bytes/crc32.ts'
import { corrupt } from '../bytes/format-error.ts'
import { ByteReader } from '../bytes/reader.ts'
import type { ByteSink, ByteSource } from '../bytes/source.ts'
import { ByteWriter } from '../bytes/writer.ts'
import type { Batch } from '../column/column.ts'
import { sliceBatch } from '../column/slice.ts'
import type { Codecs } from '../compress/codec.ts'
import { parseDataFields, printDataFields } from '../types/parse.ts'
import type { Field } from '../types/row-type.ts'
import { columnBytes, readColumn, writeColumn } from './column-block.ts'

/**
 * A private file of batches, for sorted runs that do not fit the merge; it lives and dies with one process.
 *
 *   frame  := stored length, raw length, checksum (u32 each, little endian), stored bytes
 *   checksum := crc32 of the stored bytes, seeded with the raw length
 *   file   := "LKS1" frame(fields as JSON, as in schema files) frame(block)* end
 *   block  := rows (u32), then each column (column-block.ts); zstd level 1
 *   end    := three zeros (u32), rows of the file (u64): tells a whole file from one cut at a frame
 */
const MAGIC = 0x31534b4c
const FRAME = 12

/** Raw bytes of a block, about; larger batches are cut. Reading holds one block, stored and raw. */
const BLOCK_BYTES = 1 << 20

/** Writes all batches, a step for each; they have the same fields. A run without batches is a file that yields none. */
export function* writeRun(sink: ByteSink, batches: Iterable<Batch>, codecs: Codecs): Generator<void> {
  const codec = codecs.get('zstd')
  const writer = new ByteWriter(BLOCK_BYTES)
  const frame = (): void => {
    const raw = writer.peek()
    const stored = codec.compress(raw, 1)
    const head = new ByteWriter(FRAME)
    head.i32le(stored.length)
    head.i32le(raw.length)
    head.i32le(crc32(stored, raw.length))
    sink.write(head.finish())
    sink.write(stored)
    writer.clear()
  }
  writer.i32le(MAGIC)
  sink.write(writer.finish())
  writer.clear()
  let rows = 0
  let started = false
  for (const batch of batches) {
    if (!started) {
      writer.bytes(new TextEncoder().encode(JSON.stringify(printDataFields(batch.fields))))
      frame()
      started = true
    }
    for (const block of blocksOf(batch)) {
      writer.i32le(block.rows)
      for (const column of block.columns) writeColumn(writer, column)
      frame()
    }
    rows += batch.rows
    yield
  }
  writer.zeros(FRAME)
  writer.i64le(BigInt(rows))
  sink.write(writer.finish())
}

/** The batches of a run file, block by block. Throws CORRUPT for a damaged or shortened file. */
export function* readRun(source: ByteSource, codecs: Codecs): Generator<Batch> {
  const codec = codecs.get('zstd')
  const magic = new ByteReader(source.read(0, Math.min(4, source.bytes)))
  if (magic.i32le() !== MAGIC) throw corrupt('not a spill file: it does not start with LKS1')
  let offset = 4
  let fields: readonly Field[] | undefined
  let rows = 0
  for (;;) {
    if (source.bytes - offset < FRAME) throw corrupt(`spill file ends at offset ${source.bytes} inside a frame`)
    const head = new ByteReader(source.read(offset, FRAME))
    const stored = head.u32le()
    const rawBytes = head.u32le()
    const sum = head.u32le()
    offset += FRAME
    if (stored === 0) {
      if (rawBytes !== 0 || sum !== 0) throw corrupt(`spill frame at offset ${offset} is empty but not the last`)
      break
    }
    if (stored > source.bytes - offset) throw corrupt(`spill frame at offset ${offset} passes the end of the file`)
    const bytes = source.read(offset, stored)
    const actual = crc32(bytes, rawBytes)
    if (actual !== sum) throw corrupt(`spill frame at offset ${offset} has checksum ${actual}, expected ${sum}`)
    offset += stored
    const raw = codec.decompress(bytes, rawBytes)
    if (fields === undefined) fields = readFields(raw)
    else {
      const block = readBlock(raw, fields)
      rows += block.rows
      yield block
    }
  }
  if (source.bytes - offset !== 8)
    throw corrupt(`spill file has ${source.bytes - offset} bytes after its last frame, expected 8`)
  const expected = new ByteReader(source.read(offset, 8)).i64le()
  if (BigInt(rows) !== expected) throw corrupt(`spill file holds ${rows} rows, expected ${expected}`)
}

function readFields(raw: Uint8Array): readonly Field[] {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(raw))
  } catch (cause) {
    throw corrupt('the fields of a spill file are not JSON', cause)
  }
  return parseDataFields(json)
}

function readBlock(raw: Uint8Array, fields: readonly Field[]): Batch {
  const reader = new ByteReader(raw)
  const rows = reader.u32le()
  const columns = fields.map(() => readColumn(reader, rows))
  if (reader.remaining > 0) throw corrupt(`spill block has ${reader.remaining} bytes after its last column`)
  return { fields, rows, columns }
}

function* blocksOf(batch: Batch): Generator<Batch> {
  const bytes = batch.columns.reduce((sum, column) => sum + columnBytes(column), 0)
  const step = Math.max(1, Math.floor(batch.rows / Math.max(1, Math.ceil(bytes / BLOCK_BYTES))))
  for (let start = 0; start < batch.rows; start += step)
    yield sliceBatch(batch, start, Math.min(batch.rows, start + step))
}
