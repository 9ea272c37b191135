import { type Column, type FixedColumn, storageOf, type WideColumn } from '../../../formats/column/column.ts'
import { arrays } from '../../../formats/column/constant.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { Overflow } from '../overflow.ts'
import { ADD, ADD_OLDER, type Fold, SKIP, type Steps, TAKE } from './fold.ts'

/** How two values become one, and how one is taken back out of the other. */
interface Arithmetic<T> {
  readonly join: (standing: T, value: T) => T
  readonly part: (standing: T, value: T) => T
  /** What a value taken out of nothing leaves; undefined = nothing. */
  readonly negate: (value: T) => T | undefined
  /** Whether a result is one of the column's values. */
  readonly fits: (value: T) => boolean
  /** Each step has to fit: a product grows out of all bounds otherwise. */
  readonly stepwise: boolean
}

export type NumberFold = 'sum' | 'product'

/**
 * Sum or product of a column of numbers: null values count nothing. Of a sum only the result has to fit the type, whatever is added and
 * taken back on the way; of a product each step. Throws `Overflow`. Taking a zero out of a product leaves it as it is.
 */
export function numberFold(name: NumberFold, type: DataType): Fold {
  const storage = storageOf(type)
  if (storage === 'wide') return wideFold(decimals(name, type))
  if (type.kind === 'decimal') return fixedFold('int64', decimals(name, type))
  switch (storage) {
    case 'int64':
      return fixedFold(storage, whole64[name])
    case 'int8':
      return fixedFold(storage, whole(name, 8))
    case 'int16':
      return fixedFold(storage, whole(name, 16))
    case 'int32':
      return fixedFold(storage, whole(name, 32))
    case 'float32':
      return fixedFold(storage, floating(name, Math.fround))
    case 'float64':
      return fixedFold(
        storage,
        floating(name, (value) => value),
      )
    default:
      throw new TypeError(`a ${type.kind} column has no ${name}`)
  }
}

/** Whole numbers in doubles: sums of them are exact, and so are products that fit. */
function whole(name: NumberFold, bits: 8 | 16 | 32): Arithmetic<number> {
  const limit = 2 ** (bits - 1)
  const fits = (value: number) => value >= -limit && value < limit
  if (name === 'sum') return { join: (a, b) => a + b, part: (a, b) => a - b, negate: (a) => -a, fits, stepwise: false }
  const part = (a: number, b: number) => (b === 0 ? a : Math.trunc(a / b))
  return { join: (a, b) => a * b, part, negate: () => undefined, fits, stepwise: true }
}

const fits64 = (value: bigint) => value === BigInt.asIntN(64, value)

const whole64: Readonly<Record<NumberFold, Arithmetic<bigint>>> = {
  sum: { join: (a, b) => a + b, part: (a, b) => a - b, negate: (a) => -a, fits: fits64, stepwise: false },
  product: {
    join: (a, b) => a * b,
    part: (a, b) => (b === 0n ? a : a / b),
    negate: () => undefined,
    fits: fits64,
    stepwise: true,
  },
}

/** Everything fits: what is too large is infinite. */
function floating(name: NumberFold, round: (value: number) => number): Arithmetic<number> {
  const rules = { fits: () => true, stepwise: false }
  return name === 'sum'
    ? { join: (a, b) => round(a + b), part: (a, b) => round(a - b), negate: (a) => -a, ...rules }
    : { join: (a, b) => round(a * b), part: (a, b) => round(a / b), negate: () => undefined, ...rules }
}

/** Unscaled values: a product has twice the scale, a quotient none. Rounded half up, as Paimon rounds. */
function decimals(name: NumberFold, type: DataType): Arithmetic<bigint> {
  if (type.kind !== 'decimal') throw new TypeError(`a ${type.kind} column has no ${name}`)
  const limit = 10n ** BigInt(type.precision)
  const one = 10n ** BigInt(type.scale)
  const fits = (value: bigint) => value < limit && value > -limit
  if (name === 'sum') return { join: (a, b) => a + b, part: (a, b) => a - b, negate: (a) => -a, fits, stepwise: false }
  return {
    join: (a, b) => divided(a * b, one),
    part: (a, b) => (b === 0n ? a : divided(a * one, b)),
    negate: () => undefined,
    fits,
    stepwise: true,
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

/** Folds each group and keeps what is not null; gives the mask, undefined without nulls. `Overflow` with the groups that do not fit. */
function folded<T>(
  inputs: readonly Column[],
  { source, row, groupEnd, steps }: Steps,
  { join, part, negate, fits, stepwise }: Arithmetic<T>,
  valueAt: (place: number) => T,
  keep: (group: number, value: T) => void,
): Uint8Array | undefined {
  const valid = new Uint8Array(groupEnd.length)
  const over: number[] = []
  let nulls = 0
  let place = 0
  for (let group = 0; group < groupEnd.length; group++) {
    let standing: T | undefined
    const end = groupEnd[group]!
    for (; place < end; place++) {
      const step = steps[place]!
      if (step === SKIP || isNull(inputs[source[place]!]!, row[place]!)) continue
      const value = valueAt(place)
      if (step === TAKE) standing = value
      else if (step === ADD || step === ADD_OLDER) standing = standing === undefined ? value : join(standing, value)
      else standing = standing === undefined ? negate(value) : part(standing, value)
      // A break here leaves a value that does not fit.
      if (stepwise && standing !== undefined && !fits(standing)) break
    }
    place = end
    if (standing === undefined) nulls++
    else if (fits(standing)) {
      valid[group] = 1
      keep(group, standing)
    } else over.push(group)
  }
  if (over.length > 0) throw new Overflow(over)
  return nulls > 0 ? valid : undefined
}
