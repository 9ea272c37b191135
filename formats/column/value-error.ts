/**
 * A JavaScript value that does not fit its column, or a stored value that does not fit the form asked for. The engine turns it
 * into a `TableError` INVALID with the same names.
 */
export class ValueError extends Error {
  /** Name of the column, with the path inside nested types: `tags[]`, `address.city`, `prices.key`; '' = the row as a whole. */
  readonly column: string
  readonly value: unknown
  /** What is wrong, as in "is out of range (-128 to 127)". */
  readonly reason: string
  /** Position of the row in the call, when known. */
  readonly row: number | undefined

  constructor(column: string, value: unknown, reason: string, row?: number) {
    const place = [
      ...(column === '' ? [] : [`column ${JSON.stringify(column)}`]),
      ...(row === undefined ? [] : [`row ${row}`]),
    ]
    super(`${place.length === 0 ? '' : `${place.join(' of ')}: `}${shown(value)} ${reason}`)
    this.name = 'ValueError'
    this.column = column
    this.value = value
    this.reason = reason
    this.row = row
  }

  /** The same error, told for a row. */
  atRow(row: number): ValueError {
    return new ValueError(this.column, this.value, this.reason, row)
  }
}

/** A value as it can stand in a message: short, and never throwing. */
function shown(value: unknown): string {
  if (typeof value === 'string') return cut(JSON.stringify(value))
  if (typeof value === 'bigint') return cut(`${value}n`)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `a Uint8Array of ${value.length} bytes`
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'function') return 'a function'
  return String(value)
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`
}
