import type { DataType } from '../types/row-type.ts'
import type { ValueForm } from '../types/value-form.ts'
import type { ColumnBuilder } from './builder-memory.ts'
import { BytesBuilder } from './bytes-builder.ts'
import { FixedBuilder } from './fixed-builders.ts'
import { valueWriter } from './value-writers.ts'

/** Appends the first `count` values; `at` starts at the row of the first, and is at that of the culprit when one does not fit. */
export type ColumnWriter = (values: readonly unknown[], count: number, at: { row: number }) => void

/** Chooses the writer of a column, once: what is plain goes in one loop, the rest through the writer of single values. */
export function columnWriter(
  path: string,
  type: DataType,
  form: ValueForm | undefined,
  builder: ColumnBuilder,
  key = false,
): ColumnWriter {
  const write = valueWriter(path, type, form, builder, key)
  const takePlain = plainTaker(type, builder, key)
  return (values, count, at) => {
    const first = at.row
    for (let i = 0; i < count; i++) {
      if (takePlain !== undefined) i += takePlain(values, i, count)
      if (i === count) return
      at.row = first + i
      write(values[i])
    }
  }
}

/** Appends the leading values of `[from, to)` that need no look at their form, and tells how many. */
type PlainTaker = (values: readonly unknown[], from: number, to: number) => number

function plainTaker(type: DataType, builder: ColumnBuilder, key: boolean): PlainTaker | undefined {
  if (builder instanceof BytesBuilder) {
    if (type.kind !== 'char' && type.kind !== 'varchar') return undefined
    return (values, from, to) => builder.pushTexts(values, from, to, type.length)
  }
  if (!(builder instanceof FixedBuilder)) return undefined
  switch (type.kind) {
    case 'tinyint':
      return (values, from, to) => builder.pushIntegers(values, from, to, -128, 127)
    case 'smallint':
      return (values, from, to) => builder.pushIntegers(values, from, to, -32768, 32767)
    case 'int':
      return (values, from, to) => builder.pushIntegers(values, from, to, -2147483648, 2147483647)
    case 'bigint':
      return (values, from, to) => builder.pushSafeIntegers(values, from, to)
    case 'double':
      return key ? undefined : (values, from, to) => builder.pushDoubles(values, from, to)
    default:
      return undefined
  }
}
