import { inspect } from 'node:util'
import { TableError } from '../errors.ts'

interface Kind {
  readonly is: (value: unknown) => boolean
  readonly form: string
}

const kinds = {
  flag: { is: (value) => typeof value === 'boolean', form: 'true or false' },
  text: { is: isText, form: 'a text of valid Unicode' },
  callback: { is: (value) => typeof value === 'function', form: 'a function' },
  signal: { is: isSignal, form: 'an AbortSignal' },
  /** From 0 to infinity. */
  count: {
    is: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= 0),
    form: 'a whole number from 0 on',
  },
  names: { is: isNames, form: 'an array of texts' },
  texts: { is: isTexts, form: 'an object whose values are texts of valid Unicode' },
  /** Checked where it is used. */
  any: { is: () => true, form: '' },
} as const satisfies Record<string, Kind>

/** The options of a call and what each of them takes. */
export type CallShape = Readonly<Record<string, keyof typeof kinds>>

/**
 * `INVALID` for an option that `call` does not have, or whose value is of another kind: neither must be taken for one that was left
 * out. `undefined` is.
 */
export function checkCall(call: string, given: unknown, shape: CallShape): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TableError('INVALID', `The options of ${call} are ${shown(given)}. Give an object, or leave them out.`, {
      value: given,
    })
  }
  for (const option in given) {
    const kind = Object.hasOwn(shape, option) ? kinds[shape[option]!] : undefined
    if (kind === undefined) {
      const known = Object.keys(shape).join(', ')
      throw new TableError('INVALID', `${call} has no option ${JSON.stringify(option)}. Give ${known}.`, { option })
    }
    const value = (given as Readonly<Record<string, unknown>>)[option]
    if (value === undefined || kind.is(value)) continue
    throw new TableError('INVALID', `${option} of ${call} is ${shown(value)}. Give ${kind.form}.`, { option, value })
  }
}

/** A value as it can stand in a message: in one line, and short. */
export function shown(value: unknown): string {
  const text = inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 60 })
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`
}

function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
}

/** A lone surrogate has no UTF-8 form: a file would hold another text, the same for all of them. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value)
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function isTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([key, text]) => isText(key) && isText(text))
}
