import { corrupt } from '../bytes/format-error.ts'
import { ByteReader } from '../bytes/reader.ts'
import { xxhash64 } from '../bytes/xxhash64.ts'
import type { Scalar } from '../column/column.ts'
import type { DataType } from '../types/row-type.ts'

/** Set of values of one column in one file: it may hold a value that is not there, never miss one that is. */
export interface BloomFilter {
  readonly hashFunctions: number
  /** Bit j is in byte `j >> 3`, lowest bit first. */
  readonly bits: Uint8Array
}

/** 64-bit hash of a value in two halves: what a filter stores instead of values. */
export interface BloomHash {
  readonly low: number
  readonly high: number
}

/** More is not a filter but damage: Paimon writes 127 at most. */
const MAX_HASH_FUNCTIONS = 1_000

/** Paimon's `bloom-filter` body: the number of hash functions, big endian, then the bits. */
export function decodeBloomFilter(bytes: Uint8Array): BloomFilter {
  const reader = new ByteReader(bytes)
  const hashFunctions = reader.i32be()
  if (hashFunctions < 1 || hashFunctions > MAX_HASH_FUNCTIONS || reader.remaining === 0) {
    throw corrupt(`bloom filter has ${hashFunctions} hash functions over ${reader.remaining} bytes`)
  }
  return { hashFunctions, bits: reader.take(reader.remaining) }
}

/** False: no row has a value of this hash. True: look into the file. */
export function bloomMightContain(filter: BloomFilter, hash: BloomHash): boolean {
  const { bits, hashFunctions } = filter
  const bitCount = bits.length * 8
  let combined = hash.low
  for (let i = 1; i <= hashFunctions; i++) {
    combined = (combined + hash.high) | 0
    const bit = (combined < 0 ? ~combined : combined) % bitCount
    if (((bits[bit >>> 3]! >>> (bit & 7)) & 1) === 0) return false
  }
  return true
}

/**
 * Hash of a value in the unit of its column: xxHash64 of text and bytes, Wang's 64-bit mix of numbers and of the IEEE bits of
 * floating ones; timestamps above p = 6 count microseconds. Undefined for types that Paimon puts in no bloom filter.
 */
export function bloomHash(type: DataType, value: Scalar): BloomHash | undefined {
  switch (type.kind) {
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary': {
      const halves = new Int32Array(2)
      xxhash64(halves, value as Uint8Array)
      return { low: halves[0]!, high: halves[1]! }
    }
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'date':
    case 'time':
    case 'bigint':
      return mix(BigInt(value as number | bigint))
    case 'float':
      return mix(BigInt(new Int32Array(Float32Array.of(value as number).buffer)[0]!))
    case 'double':
      return mix(new BigInt64Array(Float64Array.of(value as number).buffer)[0]!)
    case 'timestamp':
    case 'timestamp_ltz':
      return mix(type.precision <= 6 ? (value as bigint) : nanosToMicros(value as bigint))
    default:
      return undefined
  }
}

function nanosToMicros(nanos: bigint): bigint {
  const micros = nanos / 1_000n
  return nanos % 1_000n < 0n ? micros - 1n : micros
}

/** Thomas Wang's hash of a 64-bit integer, with arithmetic shifts to the right. Once a predicate, so bigints will do. */
function mix(value: bigint): BloomHash {
  let k = i64(~value + (value << 21n))
  k ^= k >> 24n
  k = i64(k + (k << 3n) + (k << 8n))
  k ^= k >> 14n
  k = i64(k + (k << 2n) + (k << 4n))
  k ^= k >> 28n
  k = i64(k + (k << 31n))
  return { low: Number(BigInt.asIntN(32, k)), high: Number(k >> 32n) }
}

function i64(value: bigint): bigint {
  return BigInt.asIntN(64, value)
}
