import { corrupt, unsupported } from '../bytes/format-error.ts'
import { type DataType, type Field, MAX_LENGTH } from './row-type.ts'

/** Nesting deeper than this is refused: no table needs it, and a hostile file must not exhaust the stack. */
const MAX_DEPTH = 64

const MAX_PRECISION = 38

/**
 * Data type of a schema file: text for atomic types (`"DECIMAL(10, 2) NOT NULL"`), objects for nested ones
 * (`{"type":"ARRAY","element":"INT"}`).
 *
 * As lenient as Paimon's own parser: case and blanks do not matter, `INTEGER`, `DEC`, `NUMERIC`, `TIMESTAMP_LTZ(p)` and
 * `DOUBLE PRECISION` are understood, lengths and precisions may be missing. Throws `FormatError`: UNSUPPORTED for a type this
 * version does not know, CORRUPT for text that is no type; both quote it.
 */
export function parseType(json: unknown): DataType {
  return parse(json, 0)
}

/** Fields of a schema file or of a ROW type: an array of `{id, name, type, description?, defaultValue?}`. */
export function parseDataFields(json: unknown): Field[] {
  return parseFields(json, 0)
}

/**
 * The JSON form of a type, exactly as Paimon prints it: canonical names, one blank after the comma of `DECIMAL(10, 2)`,
 * `STRING` and `BYTES` for the largest lengths, ` NOT NULL` inside the `type` text of nested types.
 */
export function printType(type: DataType): unknown {
  switch (type.kind) {
    case 'array':
    case 'multiset':
      return { type: atomicText(type), element: printType(type.element) }
    case 'map':
      return { type: atomicText(type), key: printType(type.key), value: printType(type.value) }
    case 'row':
      return { type: atomicText(type), fields: printDataFields(type.fields) }
    default:
      return atomicText(type)
  }
}

/** Inverse of `parseDataFields`; `description` and `defaultValue` are present only when set. */
export function printDataFields(fields: readonly Field[]): unknown[] {
  return fields.map((field) => ({
    id: field.id,
    name: field.name,
    type: printType(field.type),
    ...(field.description === undefined ? {} : { description: field.description }),
    ...(field.defaultValue === undefined ? {} : { defaultValue: field.defaultValue }),
  }))
}

/** One line of SQL for messages: `MAP<STRING NOT NULL, INT>`. Not meant to be parsed. */
export function describeType(type: DataType): string {
  const suffix = type.nullable ? '' : ' NOT NULL'
  switch (type.kind) {
    case 'array':
    case 'multiset':
      return `${type.kind.toUpperCase()}<${describeType(type.element)}>${suffix}`
    case 'map':
      return `MAP<${describeType(type.key)}, ${describeType(type.value)}>${suffix}`
    case 'row':
      return `ROW<${type.fields.map((field) => `${field.name} ${describeType(field.type)}`).join(', ')}>${suffix}`
    default:
      return atomicText(type)
  }
}

function parse(json: unknown, depth: number): DataType {
  if (depth > MAX_DEPTH) throw unsupported(`type nested deeper than ${MAX_DEPTH} levels`)
  if (typeof json === 'string') return parseAtomic(json)
  const node = asObject(json)
  if (node === undefined || typeof node.type !== 'string') throw corrupt(`not a data type: ${quote(json)}`)
  const cursor = new TypeText(node.type)
  const name = cursor.word()
  switch (name) {
    case 'ARRAY':
    case 'MULTISET': {
      const kind = name === 'ARRAY' ? 'array' : 'multiset'
      return { kind, element: parse(node.element, depth + 1), nullable: cursor.nullability() }
    }
    case 'MAP': {
      const key = parse(node.key, depth + 1)
      return { kind: 'map', key, value: parse(node.value, depth + 1), nullable: cursor.nullability() }
    }
    case 'ROW':
      return { kind: 'row', fields: parseFields(node.fields, depth + 1), nullable: cursor.nullability() }
    default:
      throw unsupported(`unknown nested data type ${quote(node.type)}`)
  }
}

function parseFields(json: unknown, depth: number): Field[] {
  if (!Array.isArray(json)) throw corrupt(`fields of a row type are not an array: ${quote(json)}`)
  return json.map((item: unknown): Field => {
    const node = asObject(item)
    if (node === undefined || typeof node.name !== 'string') throw corrupt(`not a field of a row type: ${quote(item)}`)
    const { id, name, description, defaultValue } = node
    if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw corrupt(`field ${quote(name)} has no integer id`)
    return {
      id,
      name,
      type: parse(node.type, depth),
      ...(typeof description === 'string' ? { description } : {}),
      ...(typeof defaultValue === 'string' ? { defaultValue } : {}),
    }
  })
}

function parseAtomic(text: string): DataType {
  const cursor = new TypeText(text)
  const name = cursor.word()
  switch (name) {
    case 'BOOLEAN':
    case 'TINYINT':
    case 'SMALLINT':
    case 'INT':
    case 'INTEGER':
    case 'BIGINT':
    case 'FLOAT':
    case 'DATE':
    case 'VARIANT':
      return { kind: plainKinds[name], nullable: cursor.nullability() }
    case 'DOUBLE':
      cursor.skip('PRECISION')
      return { kind: 'double', nullable: cursor.nullability() }
    case 'CHAR':
    case 'VARCHAR':
    case 'BINARY':
    case 'VARBINARY': {
      const [length = 1] = cursor.parameters(1)
      cursor.check(length >= 1 && length <= MAX_LENGTH, `a length of 1 to ${MAX_LENGTH}`)
      return { kind: bytesKinds[name], length, nullable: cursor.nullability() }
    }
    case 'STRING':
      return { kind: 'varchar', length: MAX_LENGTH, nullable: cursor.nullability() }
    case 'BYTES':
      return { kind: 'varbinary', length: MAX_LENGTH, nullable: cursor.nullability() }
    case 'DECIMAL':
    case 'DEC':
    case 'NUMERIC': {
      const [precision = 10, scale = 0] = cursor.parameters(2)
      cursor.check(precision >= 1 && precision <= MAX_PRECISION, `a precision of 1 to ${MAX_PRECISION}`)
      cursor.check(scale <= precision, 'a scale of 0 to the precision')
      return { kind: 'decimal', precision, scale, nullable: cursor.nullability() }
    }
    case 'TIME': {
      const precision = cursor.precision(0)
      if (cursor.skip('WITHOUT')) cursor.expect('TIME', 'ZONE')
      return { kind: 'time', precision, nullable: cursor.nullability() }
    }
    case 'TIMESTAMP': {
      const precision = cursor.precision(6)
      if (cursor.skip('WITHOUT')) {
        cursor.expect('TIME', 'ZONE')
      } else if (cursor.skip('WITH')) {
        // TIMESTAMP WITH TIME ZONE carries a zone a value: SQL has it, Paimon does not.
        if (!cursor.skip('LOCAL')) throw unsupported(`unknown data type ${quote(text)}`)
        cursor.expect('TIME', 'ZONE')
        return { kind: 'timestamp_ltz', precision, nullable: cursor.nullability() }
      }
      return { kind: 'timestamp', precision, nullable: cursor.nullability() }
    }
    case 'TIMESTAMP_LTZ': {
      const precision = cursor.precision(6)
      return { kind: 'timestamp_ltz', precision, nullable: cursor.nullability() }
    }
    default:
      throw unsupported(`unknown data type ${quote(text)}`)
  }
}

const plainKinds = {
  BOOLEAN: 'boolean',
  TINYINT: 'tinyint',
  SMALLINT: 'smallint',
  INT: 'int',
  INTEGER: 'int',
  BIGINT: 'bigint',
  FLOAT: 'float',
  DATE: 'date',
  VARIANT: 'variant',
} as const

const bytesKinds = { CHAR: 'char', VARCHAR: 'varchar', BINARY: 'binary', VARBINARY: 'varbinary' } as const

/** Text of the outermost type: all of an atomic type, the name and nullability of a nested one. */
function atomicText(type: DataType): string {
  const suffix = type.nullable ? '' : ' NOT NULL'
  switch (type.kind) {
    case 'varchar':
    case 'varbinary':
      if (type.length === MAX_LENGTH) return (type.kind === 'varchar' ? 'STRING' : 'BYTES') + suffix
      return `${type.kind.toUpperCase()}(${type.length})${suffix}`
    case 'char':
    case 'binary':
      return `${type.kind.toUpperCase()}(${type.length})${suffix}`
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})${suffix}`
    case 'time':
    case 'timestamp':
      return `${type.kind.toUpperCase()}(${type.precision})${suffix}`
    case 'timestamp_ltz':
      return `TIMESTAMP(${type.precision}) WITH LOCAL TIME ZONE${suffix}`
    default:
      return type.kind.toUpperCase() + suffix
  }
}

/** Cursor over the words, numbers and marks of one type text. */
class TypeText {
  private readonly text: string
  private readonly tokens: readonly string[]
  private position = 0

  constructor(text: string) {
    this.text = text
    this.tokens = text.toUpperCase().match(/[A-Z_][A-Z_0-9]*|\d+|\S/g) ?? []
  }

  word(): string {
    return this.tokens[this.position++] ?? ''
  }

  skip(token: string): boolean {
    if (this.tokens[this.position] !== token) return false
    this.position++
    return true
  }

  expect(...tokens: readonly string[]): void {
    for (const token of tokens) this.check(this.skip(token), token)
  }

  check(condition: boolean, expected: string): void {
    if (!condition) throw corrupt(`data type ${quote(this.text)}: expected ${expected}`)
  }

  /** Up to `most` numbers in parentheses; empty without parentheses. */
  parameters(most: number): number[] {
    const numbers: number[] = []
    if (!this.skip('(')) return numbers
    do {
      const token = this.word()
      this.check(/^\d{1,10}$/.test(token), 'a number')
      numbers.push(Number(token))
    } while (numbers.length < most && this.skip(','))
    this.expect(')')
    return numbers
  }

  precision(fallback: number): number {
    const [precision = fallback] = this.parameters(1)
    this.check(precision <= 9, 'a precision of 0 to 9')
    return precision
  }

  /** Reads `NOT NULL`, `NULL` or nothing; anything after it is an error. */
  nullability(): boolean {
    const nullable = !this.skip('NOT')
    if (nullable) this.skip('NULL')
    else this.expect('NULL')
    this.check(this.position === this.tokens.length, 'nothing more')
    return nullable
  }
}

function asObject(json: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Readonly<Record<string, unknown>>)
    : undefined
}

function quote(json: unknown): string {
  const text = JSON.stringify(json) ?? 'undefined'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
