/** A value as the API gives it; null = null. Maps are lists of pairs, rows objects. */
export type Value = unknown

/** What a column's options say. */
export interface Rule {
  readonly function: string
  /** Whole numbers have so many bits; decimals have so many digits behind the point. */
  readonly bits?: 8 | 16 | 32 | 64
  readonly scale?: number
  readonly distinct?: boolean
  readonly delimiter?: string
  readonly nestedKey?: readonly string[]
  readonly limit?: number
  readonly ignoreRetract?: boolean
}

/** What stands for a column while the rows of a key are gone through; `started` tells a first null from nothing yet. */
export interface Standing {
  readonly value: Value
  readonly started: boolean
}

export const NOTHING: Standing = { value: null, started: false }

/**
 * Paimon's aggregate functions over two values, as its documentation and its outcomes have them: slow, and written without a look
 * at the engine. `older` = the value belongs below what stands, as with a sequence group.
 */
export function aggregate(rule: Rule, standing: Standing, value: Value, older: boolean): Standing {
  return { value: joined(rule, standing, value, older), started: true }
}

function joined(rule: Rule, { value: acc, started }: Standing, value: Value, older: boolean): Value {
  const [first, second] = older ? [value, acc] : [acc, value]
  switch (rule.function) {
    case 'sum':
      return neutral(acc, value, (a, b) => fit(rule, plus(rule, a, b)))
    case 'product':
      return neutral(acc, value, (a, b) => fit(rule, times(rule, a, b)))
    case 'max':
      return neutral(acc, value, (a, b) => (compare(b, a) > 0 ? b : a))
    case 'min':
      return neutral(acc, value, (a, b) => (compare(b, a) < 0 ? b : a))
    case 'bool_and':
      return neutral(acc, value, (a, b) => a === true && b === true)
    case 'bool_or':
      return neutral(acc, value, (a, b) => a === true || b === true)
    case 'last_value':
      return older && started ? acc : value
    case 'last_non_null_value':
      return second ?? first
    case 'first_value':
      return !started || older ? value : acc
    case 'first_non_null_value':
    case 'first_not_null_value':
      return first ?? second
    case 'listagg':
      return neutral(first, second, (a, b) => listagg(rule, String(a), String(b)))
    case 'collect':
      return neutral(first, second, (a, b) =>
        rule.distinct ? distinct([...list(a), ...list(b)]) : [...list(a), ...list(b)],
      )
    case 'merge_map':
      return neutral(first, second, (a, b) => [...new Map([...pairs(a), ...pairs(b)])])
    case 'nested_update':
      return neutral(first, second, (a, b) => nestedUpdate(rule, list(a), list(b)))
    case 'nested_partial_update':
      return nestedPartial(rule, [...list(first ?? []), ...list(second ?? [])], first === null && second === null)
    default:
      throw new Error(`the model has no ${rule.function}`)
  }
}

/** A value is taken back out. Functions that cannot do that must not be asked. */
export function retract(rule: Rule, { value: acc, started }: Standing, value: Value): Standing {
  const keep = { value: acc, started }
  if (rule.ignoreRetract) return keep
  const to = (result: Value): Standing => ({ value: result, started: true })
  switch (rule.function) {
    case 'sum':
      if (value === null) return keep
      return to(acc === null ? fit(rule, negate(rule, value)) : fit(rule, plus(rule, acc, negate(rule, value))))
    case 'product':
      return acc === null || value === null ? keep : to(fit(rule, quotient(rule, acc, value)))
    case 'last_value':
      return to(null)
    case 'last_non_null_value':
      return value === null ? keep : to(null)
    case 'collect':
      return acc === null || value === null ? keep : to(list(value).reduce<readonly Value[]>(removeOne, list(acc)))
    case 'merge_map':
      return acc === null || value === null
        ? keep
        : to(pairs(acc).filter(([key]) => !pairs(value).some(([other]) => same(key, other))))
    case 'nested_update': {
      if (acc === null || value === null) return keep
      const id = (row: Value) => (rule.nestedKey === undefined ? text(row) : keyOf(rule.nestedKey, row))
      return to(list(acc).filter((row) => !list(value).some((other) => id(other) === id(row))))
    }
    default:
      throw new Error(`${rule.function} cannot take a value back`)
  }
}

function neutral(a: Value, b: Value, join: (a: Value, b: Value) => Value): Value {
  if (a === null) return b
  return b === null ? a : join(a, b)
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
}

function plus(rule: Rule, a: Value, b: Value): Value {
  if (rule.scale !== undefined) return printed(unscaled(a) + unscaled(b), rule.scale)
  return typeof a === 'bigint' ? a + (b as bigint) : (a as number) + (b as number)
}

function negate(rule: Rule, a: Value): Value {
  if (rule.scale !== undefined) return printed(-unscaled(a), rule.scale)
  return typeof a === 'bigint' ? -a : -(a as number)
}

/** Whole numbers are multiplied exactly. */
function times({ bits }: Rule, a: Value, b: Value): Value {
  return bits === undefined ? (a as number) * (b as number) : BigInt(a as number) * BigInt(b as number)
}

function quotient({ bits }: Rule, a: Value, b: Value): Value {
  return bits === undefined ? (a as number) / (b as number) : BigInt(a as number) / BigInt(b as number)
}

/** Whole numbers are exact: what leaves their type is an error here too, and tables draw values that do not. */
function fit({ bits }: Rule, value: Value): Value {
  if (bits === undefined) return typeof value === 'bigint' ? Number(value) : value
  const exact = BigInt(value as number | bigint)
  if (exact !== BigInt.asIntN(bits, exact)) throw new Error(`${value} has more than ${bits} bits: draw other values`)
  return bits === 64 ? exact : Number(exact)
}

function unscaled(value: Value): bigint {
  return BigInt(String(value).replace('.', ''))
}

function printed(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function listagg({ delimiter = ',', distinct: once }: Rule, a: string, b: string): string {
  if (a === '') return b
  if (b === '') return a
  if (!once) return a + delimiter + b
  const known = new Set(a.split(delimiter))
  return b.split(delimiter).reduce((all, part) => {
    if (part === '' || known.has(part)) return all
    known.add(part)
    return all + delimiter + part
  }, a)
}

function nestedUpdate(
  { nestedKey, limit = Number.MAX_SAFE_INTEGER }: Rule,
  a: readonly Value[],
  b: readonly Value[],
): readonly Value[] {
  const all = [...a, ...b.slice(0, Math.max(0, limit - a.length))]
  return nestedKey === undefined ? all : [...new Map(all.map((row) => [keyOf(nestedKey, row), row])).values()]
}

function nestedPartial({ nestedKey = [] }: Rule, rows: readonly Value[], none: boolean): Value {
  if (none) return null
  const found = new Map<string, Record<string, Value>>()
  for (const row of rows as readonly Record<string, Value>[]) {
    const key = keyOf(nestedKey, row)
    const known = found.get(key) ?? row
    found.set(key, Object.fromEntries(Object.keys(row).map((name) => [name, row[name] ?? known[name] ?? null])))
  }
  return [...found.values()]
}

function removeOne(from: readonly Value[], value: Value): readonly Value[] {
  const at = from.findIndex((other) => same(other, value))
  return at < 0 ? from : from.toSpliced(at, 1)
}

function distinct(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [text(value), value])).values()]
}

function list(value: Value): readonly Value[] {
  return value as readonly Value[]
}

function pairs(value: Value): readonly (readonly [Value, Value])[] {
  return value as readonly (readonly [Value, Value])[]
}

function keyOf(names: readonly string[], row: Value): string {
  return text(names.map((name) => (row as Record<string, Value>)[name]))
}

function same(a: Value, b: Value): boolean {
  return text(a) === text(b)
}

/** The same text for equal values. */
export function text(value: Value): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
