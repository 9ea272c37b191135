import type { Test } from 'tap'
import { FormatError } from '../../formats/bytes/format-error.ts'
import type { Codec } from '../../formats/compress/codec.ts'

/** Reproducible bytes that no codec can shrink. */
function noise(bytes: number, seed = 1): Uint8Array {
  const result = new Uint8Array(bytes)
  let state = seed
  for (let i = 0; i < bytes; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    result[i] = state >>> 24
  }
  return result
}

/** Words with repetition at short and long distances. */
export function prose(bytes: number): Uint8Array {
  const words = ['bucket', 'snapshot', 'manifest', 'run', 'level', 'section', 'split', 'compaction', 'merge', 'key']
  const picks = noise(bytes, 7)
  let text = ''
  for (let i = 0; text.length < bytes; i++) text += `${words[picks[i]! % words.length]}-${picks[i]! % 7} `
  return new TextEncoder().encode(text).subarray(0, bytes)
}

const MEBIBYTE = 1024 * 1024

/** What every implementation of `Codec` has to hold, whatever is behind it. `detects`: cut or damaged input is noticed. */
export function codecContract(t: Test, codec: Codec, traits: { readonly storesAsIs?: boolean } = {}): void {
  const samples: readonly (readonly [string, Uint8Array])[] = [
    ['nothing', new Uint8Array(0)],
    ['one byte', Uint8Array.of(42)],
    ['twelve bytes', prose(12)],
    ['thirteen equal bytes', new Uint8Array(13).fill(7)],
    ['noise', noise(5000)],
    ['text', prose(70_000)],
    ['a run', new Uint8Array(300_000).fill(9)],
    ['a mebibyte of text', prose(MEBIBYTE)],
    ['a mebibyte of noise', noise(MEBIBYTE)],
    ['an offset view', prose(3000).subarray(1001)],
  ]
  for (const [label, bytes] of samples) {
    const before = bytes.slice()
    const packed = codec.compress(bytes)
    t.ok(same(codec.decompress(packed, bytes.length), before), `${label} comes back when its size is given`)
    t.ok(same(codec.decompress(packed), before), `${label} comes back when its size is unknown`)
    t.ok(same(bytes, before), `${label} was not changed`)
    t.throws(() => codec.decompress(packed, bytes.length + 1), { code: 'CORRUPT' }, `${label}: size too large`)
    if (bytes.length > 0) {
      t.throws(() => codec.decompress(packed, bytes.length - 1), { code: 'CORRUPT' }, `${label}: size too small`)
    }
  }
  t.throws(() => codec.decompress(codec.compress(prose(100)), 2 ** 40), { code: 'CORRUPT' }, 'a size beyond all memory')
  t.throws(() => codec.decompress(codec.compress(prose(100)), -1), { code: 'CORRUPT' }, 'a negative size')
  if (traits.storesAsIs) return

  const text = prose(20_000)
  const packed = codec.compress(text)
  t.ok(packed.length < text.length / 2, `text shrinks: ${packed.length}`)
  t.equal(packed.constructor, Uint8Array, 'no Buffer: slice copies')
  t.equal(codec.decompress(packed).constructor, Uint8Array, 'no Buffer comes out either')
  for (const length of [0, 1, 5, 9, packed.length >> 1, packed.length - 1]) {
    t.throws(() => codec.decompress(packed.subarray(0, length), text.length), { code: 'CORRUPT' }, `cut at ${length}`)
  }
  t.throws(() => codec.decompress(noise(64, 5), text.length), { code: 'CORRUPT' }, 'foreign bytes')

  // A flipped byte may go unnoticed (pages have a CRC for that), but must not hang, crash, or give another length.
  const flips = noise(400, 3)
  for (let i = 0; i < 200; i++) {
    const damaged = packed.slice()
    damaged[((flips[2 * i]! << 8) | flips[2 * i + 1]!) % packed.length]! ^= 1 << (i & 7)
    for (const size of [text.length, undefined]) {
      try {
        const result = codec.decompress(damaged, size)
        if (size !== undefined && result.length !== size) t.fail(`flip ${i}: ${result.length} bytes came out`)
      } catch (error) {
        if (!(error instanceof FormatError && error.code === 'CORRUPT')) t.fail(`flip ${i}: ${String(error)}`)
      }
    }
  }
  t.ok(same(codec.decompress(packed, text.length), text), 'still works after damaged input')
}

/** Memory must not grow with the number of calls, sound or damaged (a WebAssembly heap never shrinks). */
export function codecKeepsMemory(t: Test, codec: Codec): void {
  const text = prose(64 * 1024)
  const packed = codec.compress(text)
  const damaged = packed.subarray(0, packed.length - 3)
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      codec.compress(text)
      codec.decompress(packed, text.length)
      codec.decompress(packed)
      try {
        codec.decompress(damaged, text.length)
      } catch {}
    }
  }
  rounds(60)
  const before = process.memoryUsage().rss
  rounds(340)
  const grown = (process.memoryUsage().rss - before) / MEBIBYTE
  t.ok(grown < 50, `resident memory grew by ${grown.toFixed(1)} MiB in 340 rounds of four calls`)
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
