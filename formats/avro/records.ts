import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { AvroReader, AvroWriter } from './cursor.ts'
import type { AvroRecord, AvroType } from './schema.ts'

/** Reads one value of the writer's type that a `Layout` was resolved against. */
export type Read<T> = (input: AvroReader) => T

/**
 * How values of `T` look in Avro: the schema to write, how to write, and how to read what some other writer's schema holds.
 * Made from the constants and combinators below, so that a record is one table (see `meta/data-file.ts`).
 */
export interface Layout<T> {
  /** The Avro schema as JSON; `name` becomes the name of a record, and the stem of the names inside it. */
  schema(name: string): unknown
  write(out: AvroWriter, value: T): void
  /** Throws CORRUPT when values of the writer's type cannot be read as `T`; `field` is for the message. */
  resolve(writer: AvroType, field: string): Read<T>
  /** What a record holds when the writer's schema has no such field; undefined: the field must be there. */
  readonly absent?: T
}

interface Primitive<T> {
  readonly schema: unknown
  readonly from: readonly AvroType['kind'][]
  readonly write: (out: AvroWriter, value: T) => void
  readonly read: Read<T>
}

function primitive<T>({ schema, from, write, read }: Primitive<T>): Layout<T> {
  return {
    schema: () => schema,
    write,
    resolve: (writer, field) => {
      if (writer.kind === 'union')
        return resolveUnion(
          writer.branches,
          field,
          (branch) => from.includes(branch.kind),
          (branch) => resolveAs(branch, field),
        )
      return resolveAs(writer, field)
    },
  }

  function resolveAs(writer: AvroType, field: string): Read<T> {
    if (!from.includes(writer.kind)) throw mismatch(field, from.join(' or '), writer)
    if ('logicalType' in writer && writer.logicalType === 'timestamp-micros') {
      throw unsupported(`avro.schema: field ${field} counts microseconds, expected milliseconds`)
    }
    return read
  }
}

/** Avro `int`: a number of 32 bits. */
export const int: Layout<number> = primitive({
  schema: 'int',
  from: ['int', 'long'],
  write: (out, value) => {
    if (value !== (value | 0)) throw new RangeError(`not an int of 32 bits: ${value}`)
    out.number(value)
  },
  read: (input) => input.int(),
})

/** Avro `long` that must fit a JS number exactly. */
export const long: Layout<number> = primitive({
  schema: 'long',
  from: ['int', 'long'],
  write: (out, value) => out.number(value),
  read: (input) => input.number(),
})

/** Avro `long` that counts bytes, rows or files: exact, and not negative. */
export const count: Layout<number> = primitive({
  schema: 'long',
  from: ['int', 'long'],
  write: (out, value) => {
    if (value < 0) throw new RangeError(`a count below zero: ${value}`)
    out.number(value)
  },
  read: (input) => {
    const start = input.position
    const value = input.number()
    if (value < 0) throw input.error(`expected a count, found ${value}`, start)
    return value
  },
})

/** Avro `long` of the full 64 bits. */
export const long64: Layout<bigint> = primitive({
  schema: 'long',
  from: ['int', 'long'],
  write: (out, value) => out.long(value),
  read: (input) => input.long(),
})

/** Avro `long` of logical type `timestamp-millis`. */
export const millis: Layout<number> = primitive({
  schema: { type: 'long', logicalType: 'timestamp-millis' },
  from: ['long'],
  write: (out, value) => out.number(value),
  read: (input) => input.number(),
})

export const string: Layout<string> = primitive({
  schema: 'string',
  from: ['string'],
  write: (out, value) => out.string(value),
  read: (input) => input.string(),
})

/** Values are views into the block they were read from. */
export const bytes: Layout<Uint8Array> = primitive({
  schema: 'bytes',
  from: ['bytes'],
  write: (out, value) => out.bytes(value),
  read: (input) => input.bytes(),
})

/** An `int` that stands for a name: its index in `names`. Another number is UNSUPPORTED. */
export function code<const N extends string>(...names: readonly N[]): Layout<N> {
  return {
    schema: () => 'int',
    write: (out, value) => out.number(names.indexOf(value)),
    resolve: (writer, field) => {
      const read = int.resolve(writer, field)
      return (input) => {
        const number = read(input)
        const name = names[number]
        if (name === undefined)
          throw unsupported(`${field} is ${number}: known are 0 to ${names.length - 1} (${names.join(', ')})`)
        return name
      }
    },
  }
}

/** A union of null and something, null first, as Paimon's reader needs it; read with the branches in any order. */
export function optional<T>(layout: Layout<T>): Layout<T | null> {
  return {
    absent: null,
    schema: (name) => ['null', layout.schema(name)],
    write: (out, value) => {
      if (value === null) {
        out.number(0)
      } else {
        out.number(1)
        layout.write(out, value)
      }
    },
    resolve: (writer, field) => {
      if (writer.kind === 'null') return () => null
      if (writer.kind !== 'union') return layout.resolve(writer, field)
      const values = writer.branches.filter((branch) => branch.kind !== 'null')
      // One value branch is the rule: its own mismatch makes the better message.
      const only = values.length === 1
      return resolveUnion<T | null>(
        writer.branches,
        field,
        (branch) => branch.kind === 'null' || only || resolves(layout, branch, field),
        (branch) => (branch.kind === 'null' ? () => null : layout.resolve(branch, field)),
      )
    },
  }
}

export function list<T>(layout: Layout<T>): Layout<readonly T[]> {
  return {
    schema: (name) => ({ type: 'array', items: layout.schema(name) }),
    write: (out, values) => {
      if (values.length > 0) {
        out.number(values.length)
        for (const value of values) layout.write(out, value)
      }
      out.number(0)
    },
    resolve: (writer, field) => {
      if (writer.kind === 'union') {
        const isArray = (branch: AvroType) => branch.kind === 'array'
        return resolveUnion(writer.branches, field, isArray, (branch) => list(layout).resolve(branch, field))
      }
      if (writer.kind !== 'array') throw mismatch(field, 'array', writer)
      const read = layout.resolve(writer.items, field)
      return (input) => {
        const values: T[] = []
        for (let items = input.blockCount(); items > 0; items = input.blockCount()) {
          for (let i = 0; i < items; i++) values.push(read(input))
        }
        return values
      }
    },
  }
}

/** One line of a record's table: the name in Avro, and how its values look. */
export type FieldLayout<T> = readonly [name: string, layout: Layout<T>]

/**
 * A record from the table of its fields, in the order they are written. Reading goes by field name: the writer's order and
 * record names do not matter, fields it has beyond the table are skipped, and fields it lacks read as null where they may be.
 * `version`, when given, is written first as `_VERSION`; another one read is UNSUPPORTED.
 */
export function record<T extends object>(
  table: { readonly [K in keyof T]-?: FieldLayout<T[K]> },
  options: { readonly version?: number; readonly namespace?: string } = {},
): Layout<T> {
  const { version, namespace } = options
  const keys = Object.keys(table) as (keyof T & string)[]
  const layouts = keys.map((key) => table[key][1] as Layout<unknown>)
  const names = keys.map((key) => table[key][0])
  const keyOf = new Map(keys.map((key) => [table[key][0], key]))

  return {
    schema: (name) => {
      const fields = version === undefined ? [] : [{ name: '_VERSION', type: 'int' }]
      return {
        type: 'record',
        name,
        ...(namespace === undefined ? {} : { namespace }),
        fields: [...fields, ...names.map((field, i) => fieldSchema(field, layouts[i]!, `${name}_${field}`))],
      }
    },
    write: (out, value) => {
      if (version !== undefined) out.number(version)
      for (let i = 0; i < keys.length; i++) {
        try {
          layouts[i]!.write(out, value[keys[i]!])
        } catch (cause) {
          throw named(cause, names[i]!)
        }
      }
    },
    resolve: (writer, field) => {
      if (writer.kind === 'union') {
        const isRecord = (branch: AvroType) => branch.kind === 'record'
        return resolveUnion(writer.branches, field, isRecord, (branch) => resolveRecord(branch as AvroRecord, field))
      }
      if (writer.kind !== 'record') throw mismatch(field, 'record', writer)
      return resolveRecord(writer, field)
    },
  }

  /** Assigning to a copy of one template gives all records the same shape: property reads of the engine stay monomorphic. */
  function resolveRecord(writer: AvroRecord, field: string): Read<T> {
    let template: Record<string, unknown> = {}
    for (const [i, key] of keys.entries()) {
      const { absent } = layouts[i]!
      if (absent === undefined && !writer.fields.some((other) => other.name === names[i])) {
        throw corrupt(`avro.schema: ${field} has no field ${names[i]}`)
      }
      template[key] = absent
    }
    if (version !== undefined && !writer.fields.some((other) => other.name === '_VERSION')) {
      throw corrupt(`avro.schema: ${field} has no field _VERSION`)
    }
    const targets: (string | undefined)[] = []
    const reads: Read<unknown>[] = []
    for (const { name, type } of writer.fields) {
      const key = keyOf.get(name)
      targets.push(key)
      if (key !== undefined) reads.push(layouts[keys.indexOf(key)]!.resolve(type, name))
      else if (name === '_VERSION' && version !== undefined) reads.push(checkVersion(type, version))
      else reads.push((input) => skip(type, input))
    }
    let first = true
    return (input) => {
      const value = { ...template }
      for (let i = 0; i < reads.length; i++) {
        const read = reads[i]!(input)
        const target = targets[i]
        if (target !== undefined) value[target] = read
      }
      // Copies of a record need no change of shape for what is put into them: twice as fast as copies of nothing.
      if (first) template = shapeOf(value)
      first = false
      return value as T
    }
  }
}

/** A record of the same fields that holds on to nothing: bytes are views of a whole block. */
function shapeOf(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, typeof part === 'object' ? null : part]))
}

function fieldSchema(name: string, layout: Layout<unknown>, recordName: string): unknown {
  const type = layout.schema(recordName)
  return layout.absent === null ? { name, type, default: null } : { name, type }
}

function checkVersion(writer: AvroType, version: number): Read<void> {
  const read = int.resolve(writer, '_VERSION')
  return (input) => {
    const found = read(input)
    if (found !== version) throw unsupported(`_VERSION is ${found}: this version reads and writes ${version}`)
  }
}

/** Reads the branch number, then as that branch says. A branch that does not fit is an error only where it is met. */
function resolveUnion<T>(
  branches: readonly AvroType[],
  field: string,
  fits: (branch: AvroType) => boolean,
  resolve: (branch: AvroType) => Read<T>,
): Read<T> {
  const reads = branches.map((branch) => (fits(branch) ? resolve(branch) : undefined))
  if (reads.every((read) => read === undefined))
    throw corrupt(`avro.schema: no branch of ${field} has the expected type`)
  return (input) => {
    const start = input.position
    const branch = input.int()
    const read = reads[branch]
    if (read !== undefined) return read(input)
    if (branch < 0 || branch >= branches.length)
      throw input.error(`branch ${branch} of ${branches.length} in ${field}`, start)
    throw input.error(`unexpected ${branches[branch]!.kind} in ${field}`, start)
  }
}

function resolves(layout: Layout<unknown>, writer: AvroType, field: string): boolean {
  try {
    layout.resolve(writer, field)
    return true
  } catch {
    return false
  }
}

/** Passes over a value of any type. Values without bytes are not looped over, whatever their count says. */
function skip(type: AvroType, input: AvroReader): void {
  if (type.empty) return
  switch (type.kind) {
    case 'null':
      return
    case 'boolean':
      input.boolean()
      return
    case 'int':
      input.int()
      return
    case 'enum':
    case 'long':
      input.long()
      return
    case 'float':
      input.take(4, 'a float')
      return
    case 'double':
      input.take(8, 'a double')
      return
    case 'fixed':
      input.take(type.size, 'a fixed value')
      return
    case 'bytes':
    case 'string':
      input.bytes()
      return
    case 'array':
      for (let items = input.blockCount(); items > 0; items = input.blockCount()) {
        for (let i = 0; i < items && !type.items.empty; i++) skip(type.items, input)
      }
      return
    case 'map':
      for (let items = input.blockCount(); items > 0; items = input.blockCount()) {
        for (let i = 0; i < items; i++) {
          input.bytes()
          skip(type.values, input)
        }
      }
      return
    case 'union': {
      const start = input.position
      const branch = input.int()
      const chosen = type.branches[branch]
      if (chosen === undefined) throw input.error(`branch ${branch} of ${type.branches.length}`, start)
      skip(chosen, input)
      return
    }
    case 'record':
      for (const field of type.fields) skip(field.type, input)
      return
  }
}

function mismatch(field: string, expected: string, writer: AvroType): Error {
  return corrupt(`avro.schema: field ${field} is ${writer.kind}, expected ${expected}`)
}

function named(cause: unknown, field: string): unknown {
  return cause instanceof RangeError ? new RangeError(`${field}: ${cause.message}`, { cause }) : cause
}
