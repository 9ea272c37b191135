import type { Column, FixedColumn } from '../../../formats/column/column.ts'
import { isNull, type RowOrder, rowOrderOf } from '../../../formats/column/row-order.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { ADD, ADD_OLDER, type Fold, RETRACT, SKIP, type Steps, TAKE, valuesAt } from './fold.ts'

/**
 * Functions whose result is one of the values as it is. Each looks at the rows of a group, oldest first, and keeps the place of
 * the value that stands; -1 = null. The columns are gathered once, at the end.
 */
type Choose = (standing: number, place: number, step: number, values: Values, started: boolean) => number

/** The value at a place of the order. */
interface Values {
  isNull(place: number): boolean
  compare(a: number, b: number): number
  isTrue(place: number): boolean
}

const last: Choose = (standing, place, step) => (step === ADD ? place : step === ADD_OLDER ? standing : -1)

/** What a column without a function does within a sequence group: rows that are older never count. */
const replace: Choose = (standing, place, step) => (step === ADD ? place : step === RETRACT ? -1 : standing)

const lastNonNull: Choose = (standing, place, step, values) => {
  if (values.isNull(place)) return standing
  if (step === ADD_OLDER) return standing < 0 ? place : standing
  return step === ADD ? place : -1
}

const first: Choose = (standing, place, step, _, started) => (step === ADD_OLDER || !started ? place : standing)

const firstNonNull: Choose = (standing, place, step, values) => {
  if (values.isNull(place)) return standing
  return step === ADD_OLDER || standing < 0 ? place : standing
}

/** Of equal values the one that came first stands. */
function extreme(sign: 1 | -1): Choose {
  return (standing, place, _, values) => {
    if (values.isNull(place)) return standing
    if (standing < 0) return place
    return values.compare(place, standing) * sign > 0 ? place : standing
  }
}

/** `and` stands at the first false, `or` at the first true. */
function logical(decisive: boolean): Choose {
  return (standing, place, _, values) => {
    if (values.isNull(place)) return standing
    return standing < 0 || values.isTrue(standing) !== decisive ? place : standing
  }
}

const choices = {
  replace,
  last_value: last,
  last_non_null_value: lastNonNull,
  first_value: first,
  first_non_null_value: firstNonNull,
  max: extreme(1),
  min: extreme(-1),
  bool_and: logical(false),
  bool_or: logical(true),
} as const satisfies Record<string, Choose>

export type PickName = keyof typeof choices

/** A fold by one of the functions above. Those that cannot take a value back out must not be given `RETRACT`. */
export function pickFold(name: PickName, type: DataType): Fold {
  const choose: Choose = choices[name]
  return (inputs, rows) => valuesAt(inputs, rows, placesBy(choose, inputs, rows), type)
}

function placesBy(choose: Choose, inputs: readonly Column[], rows: Steps): Int32Array {
  const { groupEnd, steps } = rows
  const values = valuesOf(inputs, rows)
  const places = new Int32Array(groupEnd.length)
  let place = 0
  for (let group = 0; group < groupEnd.length; group++) {
    let standing = -1
    let started = false
    for (; place < groupEnd[group]!; place++) {
      const step = steps[place]!
      if (step === SKIP) continue
      standing = step === TAKE ? place : choose(standing, place, step, values, started)
      started = true
    }
    places[group] = standing
  }
  return places
}

function valuesOf(inputs: readonly Column[], { source, row }: Steps): Values {
  let order: RowOrder | undefined
  return {
    isNull: (place) => isNull(inputs[source[place]!]!, row[place]!),
    compare(a, b) {
      order ??= rowOrderOf(inputs[0]!)
      return order(inputs[source[a]!]!, row[a]!, inputs[source[b]!]!, row[b]!)
    },
    isTrue: (place) => (inputs[source[place]!] as FixedColumn).values[row[place]!] === 1,
  }
}
