import t from 'tap'
import { crc32 } from '../../../formats/bytes/crc32.ts'
import type { Batch } from '../../../formats/column/column.ts'
import { concatBatches, sliceBatch } from '../../../formats/column/slice.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { readRun, writeRun } from '../../../formats/spill/run-file.ts'
import { allTypes, fieldsOf, plain, randomColumn, seeded } from '../column/support.ts'

const codecs = loadCodecs()
const fields = fieldsOf(allTypes)

function batchOf(rows: number, seed: number): Batch {
  const random = seeded(seed)
  return { fields, rows, columns: fields.map((field) => randomColumn(field.type, rows, random)) }
}

function store(batches: readonly Batch[]): Uint8Array {
  const parts: Uint8Array[] = []
  const steps = writeRun({ write: (bytes) => void parts.push(bytes.slice()) }, batches, codecs)
  while (steps.next().done !== true);
  return new Uint8Array(Buffer.concat(parts))
}

function load(bytes: Uint8Array): Batch[] {
  const read = (offset: number, length: number) => {
    if (offset + length > bytes.length) throw new Error('read past the end')
    return bytes.subarray(offset, offset + length)
  }
  return [...readRun({ bytes: bytes.length, read }, codecs)]
}

t.test('batches of every kind of column come back, slices included', async (t) => {
  const batch = batchOf(300, 1)
  const parts = [
    sliceBatch(batch, 0, 7),
    sliceBatch(batch, 7, 7),
    sliceBatch(batch, 7, 250),
    sliceBatch(batch, 250, 300),
  ]
  const result = load(store(parts))
  t.strictSame(result[0]!.fields, fields)
  t.strictSame(concatBatches(result).columns.map(plain), batch.columns.map(plain))
  t.strictSame(load(store([])), [])
})

t.test('a large batch is read back in blocks', async (t) => {
  const rows = 400_000
  const column = { kind: 'fixed', length: rows, values: new BigInt64Array(rows).fill(7n) } as const
  const batch: Batch = {
    fields: [{ id: 0, name: 'c', type: { kind: 'bigint', nullable: false } }],
    rows,
    columns: [column],
  }
  const result = load(store([batch]))
  t.equal(
    result.reduce((sum, part) => sum + part.rows, 0),
    rows,
  )
  t.ok(result.length >= 3 && result.every((part) => part.rows * 8 <= 1 << 20))
})

t.test('every cut and every flipped byte is CORRUPT', async (t) => {
  const batch = batchOf(5, 2)
  const whole = store([batch, batchOf(4, 3)])
  const expected = concatBatches(load(whole)).columns.map(plain)
  const step = Math.max(1, Math.floor(whole.length / 300))
  for (let at = 0; at < whole.length; at += step) {
    t.throws(() => load(whole.subarray(0, at)), { code: 'CORRUPT' }, `cut at ${at}`)
    const flipped = whole.slice()
    flipped[at]! ^= 0x55
    t.throws(() => load(flipped), { code: 'CORRUPT' }, `flipped at ${at}`)
  }
  t.strictSame(concatBatches(load(whole)).columns.map(plain), expected)
})

/** A file of frames whose checksums are right, whatever they hold. */
function fileOf(...frames: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('LKS1')]
  for (const raw of frames) {
    const stored = codecs.get('zstd').compress(raw, 1)
    parts.push(
      new Uint8Array(Uint32Array.of(stored.length, raw.length, crc32(stored, raw.length)).buffer as ArrayBuffer),
      stored,
    )
  }
  return new Uint8Array(Buffer.concat([...parts, new Uint8Array(20)]))
}

const text = (value: string) => new TextEncoder().encode(value)

t.test('fields that are none are CORRUPT, with a right checksum too', async (t) => {
  for (const head of ['[', '{}', '5', 'null', '[{}]', '['.repeat(100_000), '[{"id":0,"name":"c","type":"INT("}]'])
    t.throws(() => load(fileOf(text(head))), { name: 'FormatError' }, head.slice(0, 40))
})

t.test('a column nested without end is CORRUPT', async (t) => {
  // A list of no rows in a list of no rows, and so on.
  const nested = new Uint8Array(4 + 6 * 50_000)
  for (let at = 4; at < nested.length; at += 6) nested[at] = 3
  t.throws(() => load(fileOf(text('[{"id":0,"name":"c","type":"INT"}]'), nested)), {
    code: 'CORRUPT',
    message: /nested deeper than 66 levels/,
  })
})
