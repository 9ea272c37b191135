import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { Column, Scalar } from '../column/column.ts'
import { describeType } from '../types/parse.ts'
import type { DataType } from '../types/row-type.ts'
import { rowWriter } from './column-rows.ts'
import { RowBuffer } from './row-buffer.ts'
import { DECIMAL_BYTES, headerBytes, SLOT_BYTES, slotKind } from './slot.ts'

/** Bytes of the big-endian field count in front of a serialised row. */
export const ARITY_BYTES = 4

const scratch = new RowBuffer()

/**
 * Paimon's BinaryRow of some values (docs/format/binary-row.md), without the field count: the input of the bucket hash. Values
 * are in the unit of their column, null = null. Throws UNSUPPORTED for a nested value that is not null.
 */
export function encodeRow(types: readonly DataType[], values: readonly (Scalar | null)[]): Uint8Array {
  fill(types, values)
  return scratch.finish()
}

/** The same with the field count in front: the form of keys, partitions and bounds in manifests. */
export function serializeRow(types: readonly DataType[], values: readonly (Scalar | null)[]): Uint8Array {
  fill(types, values)
  return withArity(scratch.finish(ARITY_BYTES), types.length)
}

/** `serializeRow` of one row of a batch: the first and the last key of a file. */
export function serializeRowAt(types: readonly DataType[], columns: readonly Column[], row: number): Uint8Array {
  rowWriter(types, columns, scratch)(row)
  return withArity(scratch.finish(ARITY_BYTES), types.length)
}

/**
 * Values of a BinaryRow without field count, in the unit of their columns; bytes are copied, so the row may be let go. Throws
 * CORRUPT when a value lies outside the row, UNSUPPORTED for a nested value that is not null, unless told to read it as null.
 */
export function decodeRow(
  types: readonly DataType[],
  bytes: Uint8Array,
  nested: 'refuse nested' | 'nested as null' = 'refuse nested',
): (Scalar | null)[] {
  const header = headerBytes(types.length)
  const needed = header + types.length * SLOT_BYTES
  if (bytes.length < needed) {
    throw corrupt(`row of ${types.length} fields needs ${needed} bytes, but has ${bytes.length}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return types.map((type, field) => {
    const bit = field + 8
    if ((bytes[bit >>> 3]! >>> (bit & 7)) & 1) return null
    if (nested === 'nested as null' && slotKind(type) === 'nested') return null
    return decodeSlot(type, bytes, view, header + field * SLOT_BYTES)
  })
}

/** `decodeRow` behind a field count, which must be the number of types. */
export function deserializeRow(types: readonly DataType[], bytes: Uint8Array): (Scalar | null)[] {
  const fields = rowArity(bytes)
  if (fields !== types.length) throw corrupt(`row has ${fields} fields, expected ${types.length}`)
  return decodeRow(types, bytes.subarray(ARITY_BYTES))
}

/** Field count of a serialised row. */
export function rowArity(bytes: Uint8Array): number {
  if (bytes.length < ARITY_BYTES) throw corrupt(`serialised row of ${bytes.length} bytes has no field count`)
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0
}

function withArity(bytes: Uint8Array, fields: number): Uint8Array {
  new DataView(bytes.buffer).setUint32(0, fields)
  return bytes
}

function fill(types: readonly DataType[], values: readonly (Scalar | null)[]): void {
  scratch.begin(types.length)
  for (let field = 0; field < types.length; field++) {
    const value = values[field]
    if (value === null || value === undefined) encodeNull(types[field]!, field)
    else encodeValue(types[field]!, field, value)
  }
}

function encodeNull(type: DataType, field: number): void {
  switch (slotKind(type)) {
    case 'decimal':
      scratch.setNullReserving(field, DECIMAL_BYTES)
      break
    case 'micros':
    case 'nanos':
      scratch.setNullReserving(field, 8)
      break
    default:
      scratch.setNull(field)
  }
}

// The casts trust the contract of `Scalar`: what a type is stored as decides the class of its values.
function encodeValue(type: DataType, field: number, value: Scalar): void {
  const kind = slotKind(type)
  switch (kind) {
    case 'i8':
      scratch.setWords(field, (value as number) & 0xff, 0)
      break
    case 'i16':
      scratch.setWords(field, (value as number) & 0xffff, 0)
      break
    case 'i32':
      scratch.setWords(field, value as number, 0)
      break
    case 'f32':
      scratch.setFloat32(field, value as number)
      break
    case 'f64':
      scratch.setFloat64(field, value as number)
      break
    case 'i64':
      scratch.setInt64(field, value as bigint)
      break
    case 'bytes':
      scratch.setBytes(field, value as Uint8Array, 0, (value as Uint8Array).length)
      break
    case 'decimal': {
      const unscaled = value as bigint
      scratch.setDecimal(
        field,
        Number(BigInt.asIntN(32, unscaled)),
        Number(BigInt.asIntN(32, unscaled >> 32n)),
        Number(BigInt.asIntN(32, unscaled >> 64n)),
        Number(BigInt.asIntN(32, unscaled >> 96n)),
      )
      break
    }
    case 'micros':
    case 'nanos': {
      const perMilli = kind === 'micros' ? 1_000n : 1_000_000n
      const rest = floorMod(value as bigint, perMilli)
      const millis = ((value as bigint) - rest) / perMilli
      scratch.setTimestamp(field, millis, Number(kind === 'micros' ? rest * 1_000n : rest))
      break
    }
    case 'nested':
      throw unsupported(`a value of type ${describeType(type)} in a key, a partition or statistics`)
  }
}

function decodeSlot(type: DataType, bytes: Uint8Array, view: DataView, slot: number): Scalar {
  const kind = slotKind(type)
  switch (kind) {
    case 'i8':
      return view.getInt8(slot)
    case 'i16':
      return view.getInt16(slot, true)
    case 'i32':
      return view.getInt32(slot, true)
    case 'i64':
      return view.getBigInt64(slot, true)
    case 'f32':
      return view.getFloat32(slot, true)
    case 'f64':
      return view.getFloat64(slot, true)
    case 'bytes': {
      const mark = bytes[slot + 7]!
      if (mark >= 0x80) {
        const length = mark & 0x7f
        if (length > 7) throw corrupt(`inline value at offset ${slot} says it has ${length} bytes, 7 at most fit`)
        return bytes.slice(slot, slot + length)
      }
      const length = view.getUint32(slot, true)
      const at = variablePart(bytes, view, slot, length)
      return bytes.slice(at, at + length)
    }
    case 'decimal': {
      const length = view.getUint32(slot, true)
      if (length === 0 || length > DECIMAL_BYTES) throw corrupt(`decimal at offset ${slot} has ${length} bytes`)
      const at = variablePart(bytes, view, slot, length)
      let unscaled = BigInt(view.getInt8(at))
      for (let i = 1; i < length; i++) unscaled = (unscaled << 8n) | BigInt(bytes[at + i]!)
      return unscaled
    }
    case 'micros':
    case 'nanos': {
      const nanos = view.getUint32(slot, true)
      if (nanos > 999_999) throw corrupt(`timestamp at offset ${slot} has ${nanos} nanoseconds in a millisecond`)
      const millis = view.getBigInt64(variablePart(bytes, view, slot, 8), true)
      return kind === 'micros'
        ? millis * 1_000n + BigInt(Math.trunc(nanos / 1_000))
        : millis * 1_000_000n + BigInt(nanos)
    }
    case 'nested':
      throw unsupported(`a value of type ${describeType(type)} in a key, a partition or statistics`)
  }
}

/** Offset that a slot points to, checked to hold `length` bytes. */
function variablePart(bytes: Uint8Array, view: DataView, slot: number, length: number): number {
  const at = view.getUint32(slot + 4, true)
  if (at + length > bytes.length) {
    throw corrupt(`slot at offset ${slot} points to ${length} bytes at ${at}, but the row has ${bytes.length}`)
  }
  return at
}

function floorMod(value: bigint, divisor: bigint): bigint {
  const rest = value % divisor
  return rest < 0n ? rest + divisor : rest
}
