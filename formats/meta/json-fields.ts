import { corrupt, type FormatError } from '../bytes/format-error.ts'
import { describeJson, isJsonObject, type JsonObject, type JsonValue } from './json.ts'

const MAX_LONG = 2n ** 63n - 1n
const MIN_LONG = -(2n ** 63n)

/**
 * The keys of one JSON object, taken by type. A key that is absent or null is undefined; a missing required key or another
 * type throws CORRUPT with the key's name.
 */
export class JsonFields {
  private readonly object: JsonObject
  private readonly what: string

  constructor(object: JsonObject, what: string) {
    this.object = object
    this.what = what
  }

  private get(key: string): Exclude<JsonValue, null> | undefined {
    return Object.hasOwn(this.object, key) ? (this.object[key] ?? undefined) : undefined
  }

  private wrong(key: string, expected: string): FormatError {
    return corrupt(`${this.what}: key "${key}" must be ${expected}, found ${describeJson(this.get(key))}`)
  }

  /** Throws when the key is missing. */
  required<T>(key: string, take: (this: JsonFields, key: string) => T | undefined): T {
    const value = take.call(this, key)
    if (value === undefined) throw corrupt(`${this.what}: key "${key}" is missing`)
    return value
  }

  string(key: string): string | undefined {
    const value = this.get(key)
    if (value !== undefined && typeof value !== 'string') throw this.wrong(key, 'text')
    return value
  }

  /** An integer that a number holds exactly. */
  integer(key: string): number | undefined {
    const value = this.get(key)
    if (value !== undefined && !Number.isSafeInteger(value)) throw this.wrong(key, 'an integer below 2^53')
    return value as number | undefined
  }

  /** An integer from 0 on that a number holds exactly: an id, a size. */
  count(key: string): number | undefined {
    const value = this.integer(key)
    if (value !== undefined && value < 0) throw this.wrong(key, 'an integer from 0 on')
    return value
  }

  /** An integer of 64 bits. */
  long(key: string): bigint | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    const long = typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value as number) : undefined
    if (long === undefined || long < MIN_LONG || long > MAX_LONG) throw this.wrong(key, 'an integer of 64 bits')
    return long
  }

  /** Any number. */
  number(key: string): number | undefined {
    const value = this.get(key)
    if (value !== undefined && typeof value !== 'number') throw this.wrong(key, 'a number')
    return value
  }

  array(key: string): readonly JsonValue[] | undefined {
    const value = this.get(key)
    if (value !== undefined && !Array.isArray(value)) throw this.wrong(key, 'an array')
    return value as readonly JsonValue[] | undefined
  }

  strings(key: string): readonly string[] | undefined {
    const value = this.array(key)
    if (value?.some((item) => typeof item !== 'string')) throw this.wrong(key, 'an array of text')
    return value as readonly string[] | undefined
  }

  stringMap(key: string): Readonly<Record<string, string>> | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    if (!isJsonObject(value)) throw this.wrong(key, 'an object of text')
    for (const [name, text] of Object.entries(value)) {
      if (typeof text !== 'string') {
        throw corrupt(`${this.what}: key "${key}"."${name}" must be text, found ${describeJson(text)}`)
      }
    }
    return value as Readonly<Record<string, string>>
  }

  /** What is under keys not in `known`; undefined when there is nothing. */
  others(known: ReadonlySet<string>): Readonly<Record<string, unknown>> | undefined {
    const entries = Object.entries(this.object).filter(([key]) => !known.has(key))
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }
}
