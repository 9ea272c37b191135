import t from 'tap'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { zstdFrames } from '../../../formats/compress/zstd-frame.ts'
import { decompressSmall, isPlainFrame } from '../../../formats/compress/zstd-small.ts'
import { codecContract, codecKeepsMemory, prose } from '../../contract/codec.ts'

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

/** A frame without content size, as streaming writers make them: window 1 MiB, raw blocks of at most 128 KiB. */
function streamed(bytes: Uint8Array): Uint8Array {
  const parts = [hex('28b52ffd 00 50')]
  for (let at = 0; at < bytes.length; at += 131072) {
    const block = bytes.subarray(at, at + 131072)
    parts.push(Uint8Array.of((block.length << 3) & 255, block.length >> 5, block.length >> 13), block)
  }
  parts.push(Uint8Array.of(1, 0, 0))
  return new Uint8Array(Buffer.concat(parts))
}

const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

function implementations(): readonly string[] {
  return ['napi', 'node', 'wasm-zstd'].filter((name) => {
    try {
      return loadCodecs({ zstd: name })
    } catch {
      return false
    }
  })
}

t.test('every implementation present', async (t) => {
  const present = implementations()
  t.ok(present.includes('wasm-zstd'), `present: ${present.join(', ')}`)
  for (const name of present) {
    await t.test(name, async (t) => {
      const zstd = loadCodecs({ zstd: name }).get('zstd')
      codecContract(t, zstd)
      codecKeepsMemory(t, zstd)

      const text = prose(300_000)
      t.same(zstd.decompress(streamed(text)), text, 'a frame without content size')
      t.same(zstd.decompress(streamed(text), text.length), text, 'and with the size known from elsewhere')
      t.same(zstd.decompress(streamed(new Uint8Array(0))), new Uint8Array(0), 'an empty one')
      t.throws(() => zstd.decompress(streamed(text), text.length - 1), { code: 'CORRUPT' })
      const skippable = hex('5a2a4d18 03000000 616263')
      const both = join(zstd.compress(text.subarray(0, 1000)), skippable, streamed(text.subarray(1000)))
      t.same(zstd.decompress(both), text, 'several frames and a skippable one')
      t.same(zstd.decompress(both, text.length), text, 'several frames, size known')
      t.throws(() => zstd.decompress(both, 1000), { code: 'CORRUPT' }, 'the first frame alone fits')
      t.ok(zstd.compress(prose(400_000), 9).length < zstd.compress(prose(400_000), 1).length, 'the level counts')

      // One RLE block of 128 KiB, repeated: 1 GiB from 32 KiB of input.
      const bomb = join(hex('28b52ffd 00 50'), ...Array.from({ length: 8192 }, () => hex('020010 00')), hex('010000'))
      t.throws(() => zstd.decompress(bomb), { code: 'CORRUPT' }, 'an output of 1 GiB')
      t.throws(() => zstd.decompress(bomb, 1000), { code: 'CORRUPT' }, 'an output of 1 GiB instead of 1000 bytes')
    })
  }
  const packed = present.map((name) => loadCodecs({ zstd: name }).get('zstd').compress(prose(50_000)))
  for (const bytes of packed) {
    for (const name of present) {
      t.same(loadCodecs({ zstd: name }).get('zstd').decompress(bytes), prose(50_000), `${name} reads the others'`)
    }
  }
})

t.test('an implementation that is not there is refused', async (t) => {
  t.throws(() => loadCodecs({ zstd: 'nothing' }), { code: 'UNSUPPORTED', message: /nothing/ })
})

t.test('small frames before an implementation is set up', (t) => {
  const wasm = loadCodecs({ zstd: 'wasm-zstd' }).get('zstd')
  const contents = [0, 1, 255, 1000, 131_072, 200_000, 262_144].map((bytes) => prose(bytes))
  contents.push(
    new Uint8Array(200_000),
    Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 2654435761) >>> 24),
  )
  for (const bytes of contents) {
    for (const level of [1, 3, 9]) {
      const frame = wasm.compress(bytes, level)
      t.equal(isPlainFrame(frame), true)
      t.same(decompressSmall(frame, bytes.length), bytes, `${bytes.length} bytes, level ${level}`)
    }
  }
  const frame = wasm.compress(prose(1000))
  const lengthOf = (bytes: Uint8Array) => {
    try {
      return decompressSmall(bytes, 1000).length
    } catch {
      return 0
    }
  }
  // Nothing past the end, and nothing made up for what is missing.
  for (let at = 5; at < frame.length; at++) {
    t.ok(lengthOf(frame.map((byte, index) => (index === at ? byte ^ 0x11 : byte))) <= 1000, `damaged at ${at}`)
    t.ok(lengthOf(frame.subarray(0, at)) < 1000, `cut at ${at}`)
  }
  const flagged = (flag: number) => frame.map((byte, index) => (index === 4 ? byte ^ flag : byte))
  t.notOk(isPlainFrame(flagged(0x04)), 'a checksum, which it would not test')
  t.notOk(isPlainFrame(flagged(0x20)), 'a window, which it would allocate')
  t.end()
})

t.test('frame headers', (t) => {
  t.match(zstdFrames(hex('28b52ffd 20 00 010000')), [{ start: 0, end: 9, contentBytes: 0, mostBytes: 0 }])
  t.match(zstdFrames(hex('28b52ffd 00 00 0b0000 aa')), [{ contentBytes: undefined, mostBytes: 1 }])
  t.match(zstdFrames(hex('28b52ffd 04 00 090000 aa 00000000')), [{ end: 14 }], 'with a checksum')
  t.throws(() => zstdFrames(hex('28b52ffd 04 00 090000 aa 000000')), { code: 'CORRUPT' }, 'checksum cut')
  t.throws(
    () => zstdFrames(hex('28b52ffd 60 0010 010000')),
    { code: 'CORRUPT' },
    'a content size its blocks cannot hold',
  )
  t.throws(() => zstdFrames(hex('28b52ffd e0 0000000000000080 010000')), { code: 'CORRUPT' }, 'a content size of 2^63')
  t.throws(() => zstdFrames(hex('28b52ffd 21 01 00 010000')), { code: 'CORRUPT' }, 'a dictionary')
  t.throws(() => zstdFrames(hex('28b52ffd 20 00 070000')), { code: 'CORRUPT' }, 'a reserved block type')
  t.throws(() => zstdFrames(hex('')), { code: 'CORRUPT' }, 'nothing at all')
  t.throws(() => zstdFrames(hex('5a2a4d18 ff000000 61')), { code: 'CORRUPT' }, 'a skippable frame that passes the end')
  t.end()
})
