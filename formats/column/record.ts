/** Reads one field of a row object; undefined when it has none. */
export type Getter = (record: Record<string, unknown>) => unknown

/**
 * A getter that never takes what every object inherits for a field: a column may be called `constructor` or `__proto__`.
 * Getters of classes work for all other names.
 */
export function fieldGetter(name: string): Getter {
  if (name in Object.prototype) return (record) => (Object.hasOwn(record, name) ? record[name] : undefined)
  return (record) => record[name]
}

/** An object that can be a row: anything but null, arrays, dates, bytes and functions. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !ArrayBuffer.isView(value)
  )
}

/** First own name of the record that is not in `names`. */
export function unknownName(record: Record<string, unknown>, names: ReadonlySet<string>): string | undefined {
  for (const name in record) if (!names.has(name) && Object.hasOwn(record, name)) return name
  return undefined
}
