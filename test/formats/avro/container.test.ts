import { once } from 'node:events'
import avsc from 'avsc'
import t from 'tap'
import { decodeContainer, encodeContainer } from '../../../formats/avro/container.ts'
import { bytes, long64, optional, record, string } from '../../../formats/avro/records.ts'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'

interface Row {
  readonly id: bigint
  readonly text: string | null
  readonly data: Uint8Array
}

const layout = record<Row>({ id: ['id', long64], text: ['text', optional(string)], data: ['data', bytes] })
const codecs = loadCodecs()
const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })

const makeRows = (count: number, width = 20): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    id: BigInt(i) * 1_000_003n,
    text: i % 3 === 0 ? null : `row ${i}`,
    data: new Uint8Array(width).fill(i),
  }))

const encode = (rows: readonly Row[], compression: string) => encodeContainer(rows, layout, 'row', codecs, compression)
const decode = (file: Uint8Array) => decodeContainer(file, layout, codecs)
const plain = (rows: readonly Row[]) => rows.map((row) => ({ ...row, data: Buffer.from(row.data).toString('hex') }))

t.test('every codec writes what it reads, names itself, and is deterministic', (t) => {
  const names = [
    ['zstd', 'zstandard'],
    ['ZSTD', 'zstandard'],
    ['snappy', 'snappy'],
    ['deflate', 'deflate'],
    ['none', 'null'],
    ['null', 'null'],
  ] as const
  for (const rows of [makeRows(0), makeRows(1), makeRows(5000)]) {
    for (const [compression, name] of names) {
      const file = encode(rows, compression)
      t.match(Buffer.from(file).toString('latin1'), new RegExp(`avro\\.codec.${name}\0`, 's'))
      t.strictSame(plain(decode(file)), plain(rows), `${rows.length} rows in ${compression}`)
      t.ok(Buffer.from(file).equals(encode(rows, compression)))
    }
  }
  t.throws(() => encode([], 'bzip2'), { code: 'UNSUPPORTED', message: /compression "bzip2"/ })
  t.end()
})

t.test('blocks close at 64,000 bytes, and files that differ have other sync markers', (t) => {
  const syncOf = (file: Uint8Array) => Buffer.from(file.slice(-16)).toString('hex')
  const file = encode(makeRows(300, 1000), 'none')
  t.equal(Buffer.from(file).toString('hex').split(syncOf(file)).length - 1, 1 + 5, 'header and five blocks')
  t.not(syncOf(file), syncOf(encode(makeRows(301, 1000), 'none')))
  t.end()
})

const schema = layout.schema('row') as avsc.Schema
/** avsc with exact 64-bit numbers, as the independent reader and writer. */
const long = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8)
    buffer.writeBigInt64LE(value)
    return buffer
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})
const oracle = avsc.Type.forSchema(schema, { registry: { long }, wrapUnions: false })

t.test('avsc reads our files', async (t) => {
  const rows = makeRows(2000)
  for (const compression of ['none', 'deflate']) {
    const decoder = new avsc.streams.BlockDecoder({ parseHook: () => oracle })
    const read: Row[] = []
    decoder.on('data', (row: Row) => read.push({ ...row }))
    decoder.end(Buffer.from(encode(rows, compression)))
    await once(decoder, 'end')
    t.strictSame(plain(read), plain(rows), compression)
  }
})

t.test('we read files of avsc', async (t) => {
  const rows = makeRows(2000).map((row) => ({ ...row, data: Buffer.from(row.data) }))
  for (const codec of ['null', 'deflate']) {
    const encoder = new avsc.streams.BlockEncoder(oracle, { codec, blockSize: 1000 })
    const chunks: Buffer[] = []
    encoder.on('data', (chunk: Buffer) => chunks.push(chunk))
    for (const row of rows) encoder.write(row)
    encoder.end()
    await once(encoder, 'end')
    t.strictSame(plain(decode(Buffer.concat(chunks))), plain(rows), codec)
  }
})

t.test('a file of ours under another name is damage: an older one took its place', (t) => {
  const file = encodeContainer(makeRows(3), layout, 'row', codecs, 'none', 'manifest-a-0')
  t.strictSame(plain(decodeContainer(file, layout, codecs, 'manifest-a-0')), plain(makeRows(3)))
  t.throws(() => decodeContainer(file, layout, codecs, 'manifest-b-0'), corrupt(/not manifest-b-0/))
  t.end()
})

t.test('damage is found and named', (t) => {
  const file = encode(makeRows(3), 'none')
  const copyWith = (change: (copy: Uint8Array) => void) => {
    const copy = file.slice()
    change(copy)
    return copy
  }
  t.throws(() => decode(new Uint8Array()), corrupt(/the data ends inside the magic number/))
  t.throws(() => decode(Buffer.from('PAR1PAR1')), corrupt(/not an Avro file/))
  t.throws(() => decode(copyWith((copy) => copy.fill(0xff, -1))), corrupt(/the sync marker differs/))
  t.throws(() => decode(file.subarray(0, -1)), corrupt(/the data ends inside a sync marker/))
  const text = Buffer.from(file).toString('latin1')
  const header = text.indexOf('null\0', text.indexOf('avro.codec')) + 5 + 16
  t.equal(file[header], 6, 'the count of the block, zigzag')
  t.throws(
    () => decode(copyWith((copy) => copy.fill(8, header, header + 1))),
    corrupt(/the block ends after 3 of 4 records/),
  )
  t.throws(
    () => decode(copyWith((copy) => copy.fill(4, header, header + 1))),
    corrupt(/bytes after the last of 2 records/),
  )
  t.throws(() => decode(copyWith((copy) => copy.fill(5, header, header + 1))), corrupt(/a block of -3 records/))
  const snappy = encode(makeRows(3), 'snappy').slice()
  snappy[snappy.length - 17]! ^= 1
  t.throws(() => decode(snappy), corrupt(/Avro block at byte \d+: expected the CRC/))
  const other = Buffer.from(Buffer.from(file).toString('latin1').replace('\x08null', '\x08lzma'), 'latin1')
  t.throws(() => decode(other), { code: 'UNSUPPORTED', message: /avro.codec "lzma"/ })
  t.end()
})

t.test('no flip or cut of a byte gives anything but a value or a FormatError', (t) => {
  for (const compression of ['none', 'snappy', 'deflate', 'zstd']) {
    const file = encode(makeRows(8), compression)
    let refused = 0
    const attempt = (bytes: Uint8Array, what: string) => {
      try {
        decode(bytes)
      } catch (error) {
        refused++
        if (!(error instanceof FormatError)) t.fail(`${compression}: ${what}`, { error })
      }
    }
    for (let at = 0; at < file.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const copy = file.slice()
        copy[at]! ^= mask
        attempt(copy, `byte ${at} ^ ${mask}`)
      }
      attempt(file.subarray(0, at), `cut at ${at}`)
    }
    t.ok(refused > file.length, `${compression}: ${refused} of ${file.length * 4} refused`)
  }
  t.end()
})
