import t from 'tap'
import type { CodecName } from '../../../formats/compress/codec.ts'
import { MAX_DECOMPRESSED_BYTES } from '../../../formats/compress/limits.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { codecContract, codecKeepsMemory, prose } from '../../contract/codec.ts'

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

const names: readonly CodecName[] = ['snappy', 'gzip', 'lz4_raw', 'lz4_hadoop', 'brotli']
for (const name of names) {
  t.test(name, async (t) => {
    const codec = loadCodecs().get(name)
    t.equal(codec.name, name)
    codecContract(t, codec)
    codecKeepsMemory(t, codec)
  })
}

t.test('none', async (t) => {
  codecContract(t, loadCodecs().get('none'), { storesAsIs: true })
})

t.test('codecs are set up once, and unknown names are refused', async (t) => {
  t.equal(loadCodecs(), loadCodecs())
  const codecs = loadCodecs()
  t.throws(() => codecs.get('lzo' as CodecName), { code: 'UNSUPPORTED', message: /lzo/ })
})

t.test('snappy reads what its description says', async (t) => {
  const snappy = loadCodecs().get('snappy')
  // "abcdabcd…" of 16 bytes: literal abcd, short copy of 11 from 4 back, literal 'd'; then with the two wider copies.
  const text = new TextEncoder().encode('abcdabcdabcdabcd')
  t.same(snappy.decompress(hex('10 0c 61626364 1d 04 00 64')), text)
  t.same(snappy.decompress(hex('10 0c 61626364 2e 0400')), text)
  t.same(snappy.decompress(hex('10 0c 61626364 2f 04000000')), text)
  t.same(
    snappy.decompress(hex('03 f0 02 616263')),
    new TextEncoder().encode('abc'),
    'a literal with its length in a byte',
  )
  t.throws(() => snappy.decompress(hex('10 0c 61626364 2e 0500')), { code: 'CORRUPT' }, 'from before the start')
  t.throws(() => snappy.decompress(hex('10 0c 61626364 2e 0000')), { code: 'CORRUPT' }, 'from nowhere')
  t.throws(() => snappy.decompress(hex('0c 0c 61626364 2e 0400')), { code: 'CORRUPT' }, 'past the end')
  t.throws(() => snappy.decompress(hex('ffffffff0f 00 61')), { code: 'CORRUPT' }, 'a length of 4 GiB')
  t.throws(() => snappy.decompress(hex('ffffffffff 00')), { code: 'CORRUPT' }, 'a length without an end')
})

t.test('lz4 reads what its description says', async (t) => {
  const codecs = loadCodecs()
  const raw = codecs.get('lz4_raw')
  const framed = codecs.get('lz4_hadoop')
  // Literal 'a', a match of 15 + 4 + 1 from 1 back, five literals.
  const text = new TextEncoder().encode(`${'a'.repeat(21)}bcdef`)
  const block = '1f 61 0100 01 50 6263646566'
  t.same(raw.decompress(hex(block)), text)
  t.throws(() => raw.decompress(hex('1f 61 0200 01 50 6263646566')), { code: 'CORRUPT' }, 'from before the start')
  t.same(framed.decompress(hex(`0000001a 0000000b ${block}`)), text, 'one group')
  t.same(framed.decompress(hex(`0000001a 0000000b ${block} 00000002 00000003 20 6162`)).length, 28, 'two groups')
  t.same(framed.decompress(hex('00000004 00000003 20 6162 00000003 20 6364')), new TextEncoder().encode('abcd'))
  t.same(framed.decompress(hex(block), 26), text, 'a bare block under the old codec number')
  t.same(framed.compress(new Uint8Array(0)), new Uint8Array(4))
  t.throws(() => framed.decompress(hex('7fffffff 00000003 20 6162')), { code: 'CORRUPT' }, 'a group of 2 GiB')
})

t.test('a size above the limit is refused before memory is asked for', async (t) => {
  const codecs = loadCodecs()
  for (const name of names) {
    const codec = codecs.get(name)
    const packed = codec.compress(prose(1000))
    t.throws(() => codec.decompress(packed, MAX_DECOMPRESSED_BYTES + 1), { code: 'CORRUPT' }, name)
  }
})
