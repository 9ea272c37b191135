const utf8 = new TextEncoder()

/**
 * JSON as Paimon prints it: two blanks of indent, ` : ` after a key, arrays on the line of their key, `[ ]` and `{ }` when
 * empty, no newline at the end. Keys with the value undefined are left out; a `bigint` prints as its digits.
 */
export function printJson(value: unknown): Uint8Array {
  return utf8.encode(print(value, ''))
}

function print(value: unknown, indent: string): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`JSON has no number ${value}`)
      return String(value)
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? printArray(value, indent) : printObject(value, indent)
    default:
      throw new TypeError(`JSON has no ${typeof value}`)
  }
}

function printArray(items: readonly unknown[], indent: string): string {
  if (items.length === 0) return '[ ]'
  return `[ ${items.map((item) => print(item, indent)).join(', ')} ]`
}

function printObject(object: object, indent: string): string {
  const inner = `${indent}  `
  const lines: string[] = []
  for (const [key, value] of Object.entries(object)) {
    if (value !== undefined) lines.push(`${inner}${quote(key)} : ${print(value, inner)}`)
  }
  return lines.length === 0 ? '{ }' : `{\n${lines.join(',\n')}\n${indent}}`
}

/** As `JSON.stringify`, but with the upper-case hex digits of Paimon's printer in control characters. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/\\(?:u([0-9a-f]{4})|.)/g, (sequence, hex?: string) =>
    hex === undefined ? sequence : `\\u${hex.toUpperCase()}`,
  )
}
