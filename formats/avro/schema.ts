import { corrupt, unsupported } from '../bytes/format-error.ts'

export type AvroPrimitive = 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string'

/**
 * A type of a writer's schema. `empty`: its values take no bytes at all. `depth`: nesting, at most `MAX_DEPTH`, also through
 * named types, so that recursion over a type or its values is bounded.
 */
export type AvroType = { readonly empty: boolean; readonly depth: number } & (
  | { readonly kind: AvroPrimitive; readonly logicalType: string | undefined }
  | { readonly kind: 'fixed'; readonly size: number }
  | { readonly kind: 'enum' }
  | { readonly kind: 'array'; readonly items: AvroType }
  | { readonly kind: 'map'; readonly values: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | { readonly kind: 'record'; readonly fields: readonly AvroField[] }
)

export interface AvroField {
  readonly name: string
  readonly type: AvroType
}

export type AvroRecord = Extract<AvroType, { kind: 'record' }>

const MAX_DEPTH = 32
const primitives = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])

/**
 * Reads the JSON of an `avro.schema` whose root is a record. Names, defaults, docs and aliases play no part in reading and
 * are dropped. Throws CORRUPT for what is no schema and UNSUPPORTED for types that contain themselves: metadata has none.
 */
export function parseAvroSchema(text: string): AvroRecord {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw corrupt('avro.schema is not JSON', cause)
  }
  const type = parse(json, { namespace: '', named: new Map() }, 0)
  if (type.kind !== 'record') throw corrupt(`avro.schema: expected a record at the root, found ${type.kind}`)
  return type
}

interface Scope {
  readonly namespace: string
  /** Full name → type; undefined while the type is still being read. */
  readonly named: Map<string, AvroType | undefined>
}

function parse(json: unknown, scope: Scope, nesting: number): AvroType {
  if (nesting > MAX_DEPTH) throw unsupported(`avro.schema: types nested deeper than ${MAX_DEPTH}`)
  if (typeof json === 'string') return byName(json, scope, undefined)
  if (Array.isArray(json)) {
    const branches = json.map((branch) => parse(branch, scope, nesting + 1))
    if (branches.length === 0) throw corrupt('avro.schema: a union without branches')
    return { kind: 'union', branches, empty: false, depth: above(branches) }
  }
  if (!isObject(json)) throw corrupt(`avro.schema: expected a type, found ${JSON.stringify(json)}`)
  const { type } = json
  switch (type) {
    case 'record':
      return parseRecord(json, scope, nesting)
    case 'array': {
      const items = parse(json.items, scope, nesting + 1)
      return { kind: 'array', items, empty: false, depth: above([items]) }
    }
    case 'map': {
      const values = parse(json.values, scope, nesting + 1)
      return { kind: 'map', values, empty: false, depth: above([values]) }
    }
    case 'enum':
      return define(json, scope, { kind: 'enum', empty: false, depth: 1 })
    case 'fixed': {
      const { size } = json
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
        throw corrupt(`avro.schema: a fixed type of size ${JSON.stringify(size)}`)
      }
      return define(json, scope, { kind: 'fixed', size, empty: size === 0, depth: 1 })
    }
  }
  if (typeof type === 'string') {
    return byName(type, scope, typeof json.logicalType === 'string' ? json.logicalType : undefined)
  }
  return parse(type, scope, nesting + 1)
}

function parseRecord(json: Record<string, unknown>, scope: Scope, nesting: number): AvroRecord {
  const name = fullName(json, scope)
  scope.named.set(name, undefined)
  if (!Array.isArray(json.fields)) throw corrupt(`avro.schema: record ${name} has no fields`)
  const inner = { namespace: name.slice(0, Math.max(0, name.lastIndexOf('.'))), named: scope.named }
  const seen = new Set<string>()
  const fields = json.fields.map((field: unknown): AvroField => {
    if (!isObject(field) || typeof field.name !== 'string') throw corrupt(`avro.schema: a field of ${name} has no name`)
    if (seen.has(field.name)) throw corrupt(`avro.schema: record ${name} has the field ${field.name} twice`)
    seen.add(field.name)
    return { name: field.name, type: parse(field.type, inner, nesting + 1) }
  })
  const types = fields.map((field) => field.type)
  const record = { kind: 'record', fields, empty: types.every((type) => type.empty), depth: above(types) } as const
  scope.named.set(name, record)
  return record
}

function byName(name: string, scope: Scope, logicalType: string | undefined): AvroType {
  if (primitives.has(name)) return { kind: name as AvroPrimitive, logicalType, empty: name === 'null', depth: 1 }
  const candidates = name.includes('.') || scope.namespace === '' ? [name] : [`${scope.namespace}.${name}`, name]
  for (const candidate of candidates) {
    if (!scope.named.has(candidate)) continue
    const type = scope.named.get(candidate)
    if (type === undefined) throw unsupported(`avro.schema: type ${candidate} contains itself`)
    return type
  }
  throw corrupt(`avro.schema: unknown type ${JSON.stringify(name)}`)
}

function define<T extends AvroType>(json: Record<string, unknown>, scope: Scope, type: T): T {
  scope.named.set(fullName(json, scope), type)
  return type
}

function fullName(json: Record<string, unknown>, scope: Scope): string {
  const { name, namespace } = json
  if (typeof name !== 'string' || name === '') throw corrupt('avro.schema: a named type without a name')
  if (name.includes('.')) return name
  const space = typeof namespace === 'string' ? namespace : scope.namespace
  return space === '' ? name : `${space}.${name}`
}

function above(types: readonly AvroType[]): number {
  let depth = 1
  for (const type of types) depth = Math.max(depth, type.depth + 1)
  if (depth > MAX_DEPTH) throw unsupported(`avro.schema: types nested deeper than ${MAX_DEPTH}`)
  return depth
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
