import { unsupported } from '../../formats/bytes/format-error.ts'
import type { BytesColumn, Column, FixedColumn, WideColumn } from '../../formats/column/column.ts'
import { describeType } from '../../formats/types/parse.ts'
import type { DataType } from '../../formats/types/row-type.ts'

/** True for types that Paimon's Hive bucket function takes. */
export function hiveHashable(type: DataType): boolean {
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'float':
    case 'double':
    case 'date':
    case 'decimal':
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return true
    default:
      return false
  }
}

/** Hive's hash of the key columns: `h = 31 * h + hash(value)` from 0, column by column, a null counting 0. */
export function hiveHash(types: readonly DataType[], columns: readonly Column[], rows: number): Int32Array {
  const hashes = new Int32Array(rows)
  types.forEach((type, i) => {
    const column = columns[i]!
    const hash = valueHash(type, column)
    const { valid } = column
    for (let row = 0; row < rows; row++) {
      const value = valid === undefined || valid[row] === 1 ? hash(row) : 0
      hashes[row] = (Math.imul(hashes[row]!, 31) + value) | 0
    }
  })
  return hashes
}

function valueHash(type: DataType, column: Column): (row: number) => number {
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'date': {
      const { values } = column as FixedColumn
      return (row) => values[row] as number
    }
    case 'bigint': {
      const words = bits(column as FixedColumn)
      return (row) => words[2 * row]! ^ words[2 * row + 1]!
    }
    case 'float': {
      const words = bits(column as FixedColumn)
      // -0.0 counts as 0.0, so that equal numbers meet in one bucket.
      return (row) => (words[row] === MIN_INT ? 0 : words[row]!)
    }
    case 'double': {
      const words = bits(column as FixedColumn)
      return (row) => {
        const low = words[2 * row]!
        const high = words[2 * row + 1]!
        return low === 0 && high === MIN_INT ? 0 : low ^ high
      }
    }
    case 'decimal': {
      const { scale } = type
      if (column.kind === 'wide') {
        const { values } = column as WideColumn
        return (row) => decimalHash((values[2 * row + 1]! << 64n) | BigInt.asUintN(64, values[2 * row]!), scale)
      }
      const values = (column as FixedColumn).values as BigInt64Array
      return (row) => decimalHash(values[row]!, scale)
    }
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary': {
      const { data, offsets } = column as BytesColumn
      return (row) => {
        let hash = 0
        for (let i = offsets[row]!; i < offsets[row + 1]!; i++)
          hash = (Math.imul(hash, 31) + ((data[i]! << 24) >> 24)) | 0
        return hash
      }
    }
    default:
      throw unsupported(`Hive hash of type ${describeType(type)}`)
  }
}

const MIN_INT = -0x80000000

function bits(column: FixedColumn): Int32Array {
  const { values } = column
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength >>> 2)
}

/** `BigDecimal.hashCode()` of Java, 31 * hash of the unscaled value + scale, after zeros behind the point are taken off. */
function decimalHash(unscaled: bigint, scale: number): number {
  if (unscaled === 0n) return 0
  let stripped = unscaled
  let digits = scale
  while (digits > 0 && stripped % 10n === 0n) {
    stripped /= 10n
    digits--
  }
  return (Math.imul(31, bigIntegerHash(stripped)) + digits) | 0
}

/** `BigInteger.hashCode()` of Java: 31 * h + word over the magnitude from the highest 32-bit word, times the sign. */
function bigIntegerHash(value: bigint): number {
  const magnitude = value < 0n ? -value : value
  let hash = 0
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    // Leading zero words leave the hash at zero, as if they were not there.
    hash = (Math.imul(hash, 31) + Number(BigInt.asIntN(32, magnitude >> shift))) | 0
  }
  return value < 0n ? -hash | 0 : hash
}
