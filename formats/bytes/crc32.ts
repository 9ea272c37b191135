import * as zlib from 'node:zlib'

/** CRC-32 (polynomial 0xEDB88320) of gzip and Parquet pages, as an unsigned number; `seed` is the CRC of what came before. */
export type Crc32 = (bytes: Uint8Array, seed?: number) => number

/** Slice-by-8 in plain JavaScript: eight bytes a step, a table look-up each. */
export const tableCrc32: Crc32 = (bytes, seed = 0) => {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables()
  let crc = ~seed
  let i = 0
  const blocks = bytes.length & ~7
  for (; i < blocks; i += 8) {
    const low = crc ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24))
    crc =
      t7[low & 0xff]! ^
      t6[(low >>> 8) & 0xff]! ^
      t5[(low >>> 16) & 0xff]! ^
      t4[low >>> 24]! ^
      t3[bytes[i + 4]!]! ^
      t2[bytes[i + 5]!]! ^
      t1[bytes[i + 6]!]! ^
      t0[bytes[i + 7]!]!
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]!) & 0xff]!
  return ~crc >>> 0
}

/** The fastest CRC-32 present: that of zlib from Node 20.15 and 22.2 on, else `tableCrc32`. */
export const crc32: Crc32 = nativeCrc32() ?? tableCrc32

function nativeCrc32(): Crc32 | undefined {
  const { crc32: native } = zlib as { crc32?: Crc32 }
  return typeof native === 'function' ? native : undefined
}

type Tables = readonly [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array]

let built: Tables | undefined

function tables(): Tables {
  built ??= buildTables()
  return built
}

/** Table k holds the CRC of a byte followed by k zero bytes. */
function buildTables(): Tables {
  const all = Array.from({ length: 8 }, () => new Int32Array(256))
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    all[0]![byte] = crc
  }
  for (let k = 1; k < 8; k++) {
    for (let byte = 0; byte < 256; byte++) {
      const before = all[k - 1]![byte]!
      all[k]![byte] = (before >>> 8) ^ all[0]![before & 0xff]!
    }
  }
  return all as unknown as Tables
}
