/** Thrown for an input line that is not a case; the message names the field. */
export class BadCase extends Error {}

export type JsonObject = Readonly<Record<string, unknown>>

export function object(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(name, 'an object', value)
  return value as JsonObject
}

export function array(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, 'an array', value)
  return value
}

export function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw wrong(name, 'a string', value)
  return value
}

export function boolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', value)
  return value
}

/** An integer that a double holds exactly. */
export function integer(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(name, 'an integer below 2^53', value)
  return value
}

export function integerOrNull(value: unknown, name: string): number | null {
  return value === null || value === undefined ? null : integer(value, name)
}

function wrong(name: string, expected: string, actual: unknown): BadCase {
  return new BadCase(`"${name}" must be ${expected}, not ${JSON.stringify(actual) ?? 'missing'}`)
}
