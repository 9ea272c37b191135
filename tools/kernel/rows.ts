import { bucketOfHash } from '../../engine/plan/bucket.ts'
import type { Scalar } from '../../formats/column/column.ts'
import { ARITY_BYTES, serializeRow } from '../../formats/row/binary-row.ts'
import { hashRow } from '../../formats/row/hash.ts'
import { slotKind } from '../../formats/row/slot.ts'
import { parseType } from '../../formats/types/parse.ts'
import type { DataType } from '../../formats/types/row-type.ts'

/** A row in the value forms of the kernel cases: see `kernelScalar`. */
export interface RowInput {
  readonly types: readonly string[]
  readonly values: readonly unknown[]
}

export interface RowAnswer {
  /** Hex of the serialised BinaryRow, four bytes of field count first. */
  readonly bytes: string
  readonly hash: number
  readonly bucket2: number
  readonly bucket7: number
  readonly bucket128: number
}

/** Bytes, hash and buckets of a row: the answer to one line of `rows.jsonl`. */
export function answerRows(input: RowInput): RowAnswer {
  const types = input.types.map((text) => parseType(text))
  const row = serializeRow(
    types,
    types.map((type, i) => kernelScalar(type, input.values[i])),
  )
  const hash = hashRow(row.subarray(ARITY_BYTES))
  return {
    bytes: Buffer.from(row).toString('hex'),
    hash,
    bucket2: bucketOfHash(hash, 2),
    bucket7: bucketOfHash(hash, 7),
    bucket128: bucketOfHash(hash, 128),
  }
}

/**
 * A JSON value as a scalar in the unit of its column: BIGINT from digits, FLOAT and DOUBLE from `{bits}`, bytes from `{hex}`,
 * DECIMAL from `{unscaled}`, TIMESTAMP from `{ms, nanoOfMilli}`, all other types as they are.
 */
export function kernelScalar(type: DataType, json: unknown): Scalar | null {
  if (json === null || json === undefined) return null
  switch (slotKind(type)) {
    case 'i8':
    case 'i16':
    case 'i32':
      return Number(json)
    case 'i64':
    case 'decimal':
      if (type.kind === 'decimal') return BigInt(member(json, 'unscaled'))
      return BigInt(type.kind === 'bigint' ? String(json) : member(json, 'ms'))
    case 'f32':
      return new Float32Array(Int32Array.of(Number(member(json, 'bits'))).buffer)[0]!
    case 'f64':
      return new Float64Array(BigInt64Array.of(BigInt(member(json, 'bits'))).buffer)[0]!
    case 'bytes':
      return typeof json === 'string' ? Buffer.from(json, 'utf8') : Buffer.from(member(json, 'hex'), 'hex')
    case 'micros':
      return BigInt(member(json, 'ms')) * 1_000n + BigInt(member(json, 'nanoOfMilli')) / 1_000n
    case 'nanos':
      return BigInt(member(json, 'ms')) * 1_000_000n + BigInt(member(json, 'nanoOfMilli'))
    case 'nested':
      throw new TypeError(`no kernel case has a value of type ${type.kind}`)
  }
}

function member(json: unknown, name: string): string {
  if (typeof json !== 'object' || json === null || !(name in json)) {
    throw new TypeError(`expected an object with ${name}, got ${JSON.stringify(json)}`)
  }
  return String((json as Record<string, unknown>)[name])
}
