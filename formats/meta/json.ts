import { corrupt, type FormatError } from '../bytes/format-error.ts'

/** What `parseJson` returns: as `JSON.parse`, but an integer that a number cannot hold exactly is a `bigint`. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Deeper nesting is refused, so that a hostile file cannot exhaust the stack. */
const MAX_DEPTH = 100
/** Longer integers are refused: making a `bigint` takes time quadratic in its digits. */
const MAX_INTEGER_DIGITS = 400

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y

/**
 * Parses JSON without losing digits: `JSON.parse` would round the commit identifier 2^63 - 1 of every batch commit. Strict
 * (RFC 8259, no comments); of a key given twice the last one counts. `what` names the file in errors: `snapshot`, `schema`.
 * Throws CORRUPT with the offset in characters.
 */
export function parseJson(bytes: Uint8Array, what: string): JsonValue {
  if (bytes.length === 0) throw corrupt(`${what}: the file is empty`)
  let text: string
  try {
    text = strictUtf8.decode(bytes)
  } catch (cause) {
    throw corrupt(`${what}: not UTF-8`, cause)
  }
  const parser = new Parser(text, what)
  const value = parser.value(0)
  parser.end()
  return value
}

/** `parseJson` for a file that is one object. */
export function parseJsonObject(bytes: Uint8Array, what: string): JsonObject {
  const value = parseJson(bytes, what)
  if (!isJsonObject(value)) throw corrupt(`${what}: expected an object, found ${describeJson(value)}`)
  return value
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A short form of a value for messages. */
export function describeJson(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

class Parser {
  private readonly text: string
  private readonly what: string
  private at = 0

  constructor(text: string, what: string) {
    this.text = text
    this.what = what
  }

  value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw this.error(`nested deeper than ${MAX_DEPTH}`)
    this.blanks()
    switch (this.text[this.at]) {
      case '{':
        return this.object(depth)
      case '[':
        return this.array(depth)
      case '"':
        return this.string()
      case 't':
        return this.word('true', true)
      case 'f':
        return this.word('false', false)
      case 'n':
        return this.word('null', null)
    }
    return this.number()
  }

  end(): void {
    this.blanks()
    if (this.at < this.text.length) throw this.unexpected('the end of the file')
  }

  private object(depth: number): JsonObject {
    const object: Record<string, JsonValue> = {}
    this.at++
    this.blanks()
    if (this.take('}')) return object
    do {
      this.blanks()
      if (this.text[this.at] !== '"') throw this.unexpected('a key')
      const key = this.string()
      this.blanks()
      if (!this.take(':')) throw this.unexpected('":"')
      const value = this.value(depth + 1)
      // A plain assignment to this one key would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      else object[key] = value
      this.blanks()
    } while (this.take(','))
    if (!this.take('}')) throw this.unexpected('"," or "}"')
    return object
  }

  private array(depth: number): JsonValue[] {
    const items: JsonValue[] = []
    this.at++
    this.blanks()
    if (this.take(']')) return items
    do {
      items.push(this.value(depth + 1))
      this.blanks()
    } while (this.take(','))
    if (!this.take(']')) throw this.unexpected('"," or "]"')
    return items
  }

  /** Finds the closing quote; the escapes inside are left to `JSON.parse`. */
  private string(): string {
    const start = this.at
    let escaped = false
    for (let at = start + 1; at < this.text.length; at++) {
      const unit = this.text.charCodeAt(at)
      if (unit === 0x5c) {
        escaped = true
        at++
      } else if (unit === 0x22) {
        this.at = at + 1
        return escaped ? this.unescape(start) : this.text.slice(start + 1, at)
      } else if (unit < 0x20) {
        this.at = at
        throw this.unexpected('text')
      }
    }
    this.at = this.text.length
    throw this.unexpected('a closing quote')
  }

  private unescape(start: number): string {
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string
    } catch {
      this.at = start
      throw this.error('text with an invalid escape')
    }
  }

  private number(): number | bigint {
    numberPattern.lastIndex = this.at
    const match = numberPattern.exec(this.text)
    if (match === null) throw this.unexpected('a value')
    const [digits, fraction, exponent] = match
    const number = Number(digits)
    if (fraction === undefined && exponent === undefined) {
      if (digits.length > MAX_INTEGER_DIGITS) throw this.error(`an integer of ${digits.length} digits`)
      this.at += digits.length
      if (!Number.isSafeInteger(number)) return BigInt(digits)
      return number === 0 ? 0 : number
    }
    if (!Number.isFinite(number)) throw this.error(`the number ${digits.slice(0, 40)} is out of range`)
    this.at += digits.length
    return number
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a value')
    this.at += word.length
    return value
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at++
    return true
  }

  private blanks(): void {
    for (; this.at < this.text.length; this.at++) {
      const unit = this.text.charCodeAt(this.at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
    }
  }

  private unexpected(expected: string): FormatError {
    const found = this.at < this.text.length ? JSON.stringify(this.text[this.at]) : 'the end of the file'
    return this.error(`expected ${expected}, found ${found}`)
  }

  private error(message: string): FormatError {
    return corrupt(`${this.what}, character ${this.at}: ${message}`)
  }
}
