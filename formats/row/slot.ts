import type { DataType } from '../types/row-type.ts'

/**
 * How a value of a type sits in a BinaryRow. Every field owns a slot of eight bytes; the last five kinds may also own bytes of
 * the variable part.
 *
 *   i8 i16 i32 f32 i64 f64   the value itself, little endian, at the start of the slot
 *   bytes                    up to seven bytes inline, else length and offset
 *   decimal                  DECIMAL p > 18: length and offset of 16 reserved bytes
 *   micros, nanos            TIMESTAMP p 4..6, p 7..9: nanos of the millisecond in the slot, epoch ms in 8 reserved bytes
 *   nested                   ARRAY MAP MULTISET ROW VARIANT
 */
export type SlotKind =
  | 'i8'
  | 'i16'
  | 'i32'
  | 'i64'
  | 'f32'
  | 'f64'
  | 'bytes'
  | 'decimal'
  | 'micros'
  | 'nanos'
  | 'nested'

export const SLOT_BYTES = 8

/** Room that a DECIMAL p > 18 takes in the variable part, null or not. */
export const DECIMAL_BYTES = 16

export function slotKind(type: DataType): SlotKind {
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
      return 'i8'
    case 'smallint':
      return 'i16'
    case 'int':
    case 'date':
    case 'time':
      return 'i32'
    case 'bigint':
      return 'i64'
    case 'float':
      return 'f32'
    case 'double':
      return 'f64'
    case 'decimal':
      return type.precision <= 18 ? 'i64' : 'decimal'
    case 'timestamp':
    case 'timestamp_ltz':
      return type.precision <= 3 ? 'i64' : type.precision <= 6 ? 'micros' : 'nanos'
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return 'bytes'
    case 'array':
    case 'multiset':
    case 'map':
    case 'row':
    case 'variant':
      return 'nested'
  }
}

/** Bytes before the first slot: the row kind, then a null bit a field, in words of eight bytes. */
export function headerBytes(fields: number): number {
  return ((fields + 71) >>> 6) << 3
}
