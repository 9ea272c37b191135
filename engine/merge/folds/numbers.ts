import { type Column, type FixedColumn, storageOf, type WideColumn } from '../../../formats/column/column.ts'
import { arrays } from '../../../formats/column/constant.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { ADD, ADD_OLDER, type Fold, SKIP, type Steps, TAKE } from './fold.ts'

/** How two values become one, and how one is taken back out of the other. `undefined` = the result does not fit: null. */
interface Arithmetic<T> {
  readonly join: (standing: T, value: T) => T | undefined
  readonly part: (standing: T, value: T) => T | undefined
  /** What a value taken out of nothing leaves; undefined = nothing. */
  readonly negate: (value: T) => T | undefined
}

export type NumberFold = 'sum' | 'product'

/**
 * Sum or product of a column of numbers: null values count nothing. Whole numbers wrap as the type does, a decimal that does not fit
 * its precision becomes null, both as in Paimon 1.4. Taking a zero out of a product leaves it as it is.
 */
export function numberFold(name: NumberFold, type: DataType): Fold {
  const storage = storageOf(type)
  if (storage === 'wide') return wideFold(decimals(name, type))
  if (type.kind === 'decimal') return fixedFold('int64', decimals(name, type))
  switch (storage) {
    case 'int64':
      return fixedFold(storage, wrapping(bigs[name]))
    case 'int8':
      return fixedFold(
        storage,
        rounded(numbers[name], (value) => (value << 24) >> 24, true),
      )
    case 'int16':
      return fixedFold(
        storage,
        rounded(numbers[name], (value) => (value << 16) >> 16, true),
      )
    case 'int32':
      return fixedFold(storage, name === 'sum' ? rounded(numbers.sum, (value) => value | 0, true) : int32Product)
    case 'float32':
      return fixedFold(storage, rounded(numbers[name], Math.fround, false))
    case 'float64':
      return fixedFold(
        storage,
        rounded(numbers[name], (value) => value, false),
      )
    default:
      throw new TypeError(`a ${type.kind} column has no ${name}`)
  }
}

const numbers: Readonly<Record<NumberFold, Arithmetic<number>>> = {
  sum: { join: (a, b) => a + b, part: (a, b) => a - b, negate: (a) => -a },
  product: { join: (a, b) => a * b, part: (a, b) => a / b, negate: () => undefined },
}

const bigs: Readonly<Record<NumberFold, Arithmetic<bigint>>> = {
  sum: { join: (a, b) => a + b, part: (a, b) => a - b, negate: (a) => -a },
  product: { join: (a, b) => a * b, part: (a, b) => (b === 0n ? a : a / b), negate: () => undefined },
}

/** A product of two 32-bit numbers has more digits than a double. */
const int32Product: Arithmetic<number> = {
  join: Math.imul,
  part: (a, b) => (b === 0 ? a : (a / b) | 0),
  negate: () => undefined,
}

function rounded(
  { join, part, negate }: Arithmetic<number>,
  fit: (value: number) => number,
  whole: boolean,
): Arithmetic<number> {
  const fitted = (value: number | undefined) => (value === undefined ? undefined : fit(value))
  return {
    join: (a, b) => fitted(join(a, b)),
    part: (a, b) => (whole && b === 0 ? a : fitted(part(a, b))),
    negate: (a) => fitted(negate(a)),
  }
}

function wrapping({ join, part, negate }: Arithmetic<bigint>): Arithmetic<bigint> {
  const wrap = (value: bigint | undefined) => (value === undefined ? undefined : BigInt.asIntN(64, value))
  return { join: (a, b) => wrap(join(a, b)), part: (a, b) => wrap(part(a, b)), negate: (a) => wrap(negate(a)) }
}

/** Unscaled values: a product has twice the scale, a quotient none. Rounded half up, as Paimon rounds. */
function decimals(name: NumberFold, type: DataType): Arithmetic<bigint> {
  if (type.kind !== 'decimal') throw new TypeError(`a ${type.kind} column has no ${name}`)
  const limit = 10n ** BigInt(type.precision)
  const one = 10n ** BigInt(type.scale)
  const fit = (value: bigint) => (value < limit && value > -limit ? value : undefined)
  if (name === 'sum') return { join: (a, b) => fit(a + b), part: (a, b) => fit(a - b), negate: (a) => -a }
  return {
    join: (a, b) => fit(divided(a * b, one)),
    part: (a, b) => (b === 0n ? a : fit(divided(a * one, b))),
    negate: () => undefined,
  }
}

function divided(value: bigint, by: bigint): bigint {
  const [whole, rest] = [value / by, value % by]
  const twice = 2n * (rest < 0n ? -rest : rest)
  if (twice < (by < 0n ? -by : by)) return whole
  return value < 0n === by < 0n ? whole + 1n : whole - 1n
}

/** Folds a column of a fixed width; `T` is what the arrays of the storage hold. */
function fixedFold<T extends number | bigint>(storage: keyof typeof arrays, arithmetic: Arithmetic<T>): Fold {
  return (inputs, rows) => {
    const values = inputs.map((column) => (column as FixedColumn).values as unknown as ArrayLike<T>)
    const { source, row, groupEnd } = rows
    const target = new arrays[storage](groupEnd.length)
    const results = target as unknown as { [group: number]: T }
    const valid = folded(
      inputs,
      rows,
      arithmetic,
      (place) => values[source[place]!]![row[place]!]!,
      (group, value) => {
        results[group] = value
      },
    )
    return { kind: 'fixed', length: groupEnd.length, values: target, valid }
  }
}

function wideFold(arithmetic: Arithmetic<bigint>): Fold {
  return (inputs, rows) => {
    const values = inputs.map((column) => (column as WideColumn).values)
    const { source, row, groupEnd } = rows
    const target = new BigInt64Array(groupEnd.length * 2)
    const valueAt = (place: number) => {
      const [words, at] = [values[source[place]!]!, row[place]! * 2]
      return (words[at + 1]! << 64n) | BigInt.asUintN(64, words[at]!)
    }
    const valid = folded(inputs, rows, arithmetic, valueAt, (group, value) => {
      target[group * 2] = BigInt.asIntN(64, value)
      target[group * 2 + 1] = BigInt.asIntN(64, value >> 64n)
    })
    return { kind: 'wide', length: groupEnd.length, values: target, valid }
  }
}

/** Folds each group and keeps what is not null; gives the mask, undefined without nulls. */
function folded<T>(
  inputs: readonly Column[],
  { source, row, groupEnd, steps }: Steps,
  { join, part, negate }: Arithmetic<T>,
  valueAt: (place: number) => T,
  keep: (group: number, value: T) => void,
): Uint8Array | undefined {
  const valid = new Uint8Array(groupEnd.length)
  let nulls = 0
  let place = 0
  for (let group = 0; group < groupEnd.length; group++) {
    let standing: T | undefined
    for (; place < groupEnd[group]!; place++) {
      const step = steps[place]!
      if (step === SKIP || isNull(inputs[source[place]!]!, row[place]!)) continue
      const value = valueAt(place)
      if (step === TAKE) standing = value
      else if (step === ADD || step === ADD_OLDER) standing = standing === undefined ? value : join(standing, value)
      else standing = standing === undefined ? negate(value) : part(standing, value)
    }
    if (standing === undefined) nulls++
    else {
      valid[group] = 1
      keep(group, standing)
    }
  }
  return nulls > 0 ? valid : undefined
}
