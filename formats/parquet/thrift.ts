import { corrupt } from '../bytes/format-error.ts'

/**
 * Thrift's compact protocol, as far as Parquet uses it: a struct is described once, by a table of its fields, and the table
 * both reads and writes it.
 *
 *   struct  = { (delta << 4 | type), value }, 0        delta 0: the id follows as a zigzag varint
 *   list    = (size << 4 | type), values               size 15: the size follows as a varint
 *   bool    = inside the type nibble of a field (1 true, 2 false); one byte in a list
 *
 * Reading is bounded: a list never holds more elements than bytes are left, the depth of known structs is that of their
 * tables, and unknown fields are skipped to `MAX_DEPTH` levels.
 */
export interface Wire<T> {
  /** Type nibble in field and list headers. */
  readonly type: number
  read(reader: ThriftReader): T
  write(writer: ThriftWriter, value: T): void
}

const STOP = 0
const TRUE = 1
const FALSE = 2
const BYTE = 3
const I16 = 4
const I32 = 5
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const MAP = 11
const STRUCT = 12

const MAX_DEPTH = 24

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A cursor over the bytes of one Thrift value. All it throws is `FormatError` CORRUPT. */
export class ThriftReader {
  readonly bytes: Uint8Array
  offset: number

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes
    this.offset = offset
  }

  byte(): number {
    if (this.offset >= this.bytes.length) {
      throw corrupt(`Thrift value ends at byte ${this.offset} of ${this.bytes.length}, more was expected`)
    }
    return this.bytes[this.offset++]!
  }

  /** An unsigned varint that must be a count or a length: 0 to 2^31 - 1. */
  size(): number {
    const start = this.offset
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (value > 0x7fffffff) break
        return value
      }
    }
    throw corrupt(`Thrift size at byte ${start} is above 2^31 - 1`)
  }

  /** A zigzag varint within the safe integers; Parquet's 64-bit fields are offsets, sizes and counts. */
  integer(): number {
    const start = this.offset
    const first = this.byte()
    let half = (first & 0x7f) >> 1
    let byte = first
    for (let shift = 6; byte >= 0x80; shift += 7) {
      if (shift > 62) throw corrupt(`Thrift integer at byte ${start} is longer than 10 bytes`)
      byte = this.byte()
      half += (byte & 0x7f) * 2 ** shift
    }
    const value = (first & 1) === 0 ? half : -half - 1
    if (!Number.isSafeInteger(value)) throw corrupt(`Thrift integer at byte ${start} is beyond 2^53`)
    return value
  }

  int(bits: 16 | 32): number {
    const start = this.offset
    const value = this.integer()
    if (value >= 2 ** (bits - 1) || value < -(2 ** (bits - 1))) {
      throw corrupt(`Thrift i${bits} at byte ${start} holds ${value}`)
    }
    return value
  }

  /** Length-prefixed bytes, sharing the buffer. */
  binary(): Uint8Array {
    const length = this.size()
    this.need(length)
    this.offset += length
    return this.bytes.subarray(this.offset - length, this.offset)
  }

  need(length: number): void {
    if (length > this.bytes.length - this.offset) {
      throw corrupt(
        `Thrift value at byte ${this.offset} needs ${length} bytes, ${this.bytes.length - this.offset} are left`,
      )
    }
  }

  /** Header of a list: its element type and a size no larger than the bytes left. */
  list(): { type: number; size: number } {
    const header = this.byte()
    const size = header >> 4 === 15 ? this.size() : header >> 4
    this.need(size)
    return { type: header & 15, size }
  }

  /** Steps over a value of a field this version does not know. */
  skip(type: number, depth = 0): void {
    if (depth > MAX_DEPTH)
      throw corrupt(`Thrift value at byte ${this.offset} is nested deeper than ${MAX_DEPTH} levels`)
    switch (type) {
      case TRUE:
      case FALSE:
        return
      case BYTE:
        this.byte()
        return
      case I16:
      case I32:
      case I64:
        for (let length = 1; this.byte() >= 0x80; length++) {
          if (length === 10) throw corrupt(`Thrift integer before byte ${this.offset} is longer than 10 bytes`)
        }
        return
      case DOUBLE:
        this.need(8)
        this.offset += 8
        return
      case BINARY:
        this.binary()
        return
      case LIST:
      case SET: {
        const list = this.list()
        for (let i = 0; i < list.size; i++) this.skipElement(list.type, depth)
        return
      }
      case MAP: {
        const size = this.size()
        if (size === 0) return
        this.need(size)
        const types = this.byte()
        for (let i = 0; i < size; i++) {
          this.skipElement(types >> 4, depth)
          this.skipElement(types & 15, depth)
        }
        return
      }
      case STRUCT:
        for (let header = this.byte(); header !== STOP; header = this.byte()) {
          if (header >> 4 === 0) this.int(16)
          this.skip(header & 15, depth + 1)
        }
        return
      default:
        throw corrupt(`Thrift type ${type} before byte ${this.offset} does not exist`)
    }
  }

  private skipElement(type: number, depth: number): void {
    if (type === TRUE || type === FALSE) this.byte()
    else this.skip(type, depth + 1)
  }
}

/** Grows as it is written; `finish` hands out the bytes. */
export class ThriftWriter {
  private bytes = new Uint8Array(256)
  private length = 0

  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  size(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80)
    this.byte(rest)
  }

  /** A zigzag varint; `value` must be a safe integer. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`Thrift integer ${value} is not a safe integer`)
    const half = value < 0 ? -(value + 1) : value
    let rest = Math.floor(half / 64)
    this.byte((half % 64) * 2 + (value < 0 ? 1 : 0) + (rest > 0 ? 0x80 : 0))
    if (rest === 0) return
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80)
    this.byte(rest)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }
}

/** A boolean; in a struct field the value is the type nibble, which `struct` handles. */
export const bool: Wire<boolean> = {
  type: TRUE,
  read: (reader) => reader.byte() === TRUE,
  write: (writer, value) => writer.byte(value ? TRUE : FALSE),
}

/** A signed byte. */
export const i8: Wire<number> = {
  type: BYTE,
  read: (reader) => (reader.byte() << 24) >> 24,
  write: (writer, value) => writer.byte(value & 0xff),
}

/** A signed 16-bit integer. */
export const i16: Wire<number> = {
  type: I16,
  read: (reader) => reader.int(16),
  write: (writer, value) => writer.integer(value),
}

/** A signed 32-bit integer; enumerations too. */
export const i32: Wire<number> = {
  type: I32,
  read: (reader) => reader.int(32),
  write: (writer, value) => writer.integer(value),
}

/** A signed 64-bit integer within the safe range; beyond it CORRUPT. */
export const i64: Wire<number> = {
  type: I64,
  read: (reader) => reader.integer(),
  write: (writer, value) => writer.integer(value),
}

/** Bytes, sharing the buffer that is read. */
export const binary: Wire<Uint8Array> = {
  type: BINARY,
  read: (reader) => reader.binary(),
  write: (writer, value) => {
    writer.size(value.length)
    writer.raw(value)
  },
}

/** UTF-8 text; other bytes are CORRUPT, since names of columns must survive a round trip. */
export const text: Wire<string> = {
  type: BINARY,
  read: (reader) => {
    const start = reader.offset
    const bytes = reader.binary()
    try {
      return utf8.decode(bytes)
    } catch (error) {
      throw corrupt(`Thrift text at byte ${start} is not UTF-8`, error)
    }
  },
  write: (writer, value) => binary.write(writer, new TextEncoder().encode(value)),
}

/** Stands for a struct whose content is of no use here: present or not. */
export const opaque: Wire<true> = {
  type: STRUCT,
  read: (reader) => {
    reader.skip(STRUCT)
    return true
  },
  write: (writer) => writer.byte(STOP),
}

/** A list of one element type. */
export function list<T>(element: Wire<T>): Wire<readonly T[]> {
  return {
    type: LIST,
    read(reader) {
      const start = reader.offset
      const { type, size } = reader.list()
      const same = type === element.type || (element.type === TRUE && type === FALSE)
      if (size > 0 && !same)
        throw corrupt(`Thrift list at byte ${start} has elements of type ${type}, not ${element.type}`)
      const values: T[] = []
      for (let i = 0; i < size; i++) values.push(element.read(reader))
      return values
    },
    write(writer, values) {
      if (values.length < 15) writer.byte((values.length << 4) | element.type)
      else {
        writer.byte(0xf0 | element.type)
        writer.size(values.length)
      }
      for (const value of values) element.write(writer, value)
    },
  }
}

interface FieldOf<T, R extends boolean> {
  readonly id: number
  readonly wire: Wire<T>
  readonly required: R
}

/** A field that must be there. */
export function required<T>(id: number, wire: Wire<T>): FieldOf<T, true> {
  return { id, wire, required: true }
}

/** A field that may be missing. */
export function optional<T>(id: number, wire: Wire<T>): FieldOf<T, false> {
  return { id, wire, required: false }
}

/** The table of a struct: one entry for each property of `T`, in the order of the field ids. */
export type StructFields<T> = {
  readonly [K in keyof T]-?: FieldOf<Exclude<T[K], undefined>, Record<never, never> extends Pick<T, K> ? false : true>
}

/** A struct by the table of its fields. Unknown fields are skipped; a missing required one is CORRUPT. */
export function struct<T extends object>(name: string, fields: StructFields<T>): Wire<T> {
  const entries = Object.entries<FieldOf<unknown, boolean>>(fields).map(([key, field]) => ({ key, ...field }))
  entries.sort((a, b) => a.id - b.id)
  const byId: ((typeof entries)[number] | undefined)[] = []
  for (const entry of entries) byId[entry.id] = entry

  return {
    type: STRUCT,
    read(reader) {
      const start = reader.offset
      const result: Record<string, unknown> = {}
      let id = 0
      for (let header = reader.byte(); header !== STOP; header = reader.byte()) {
        const type = header & 15
        id = header >> 4 === 0 ? reader.int(16) : id + (header >> 4)
        const entry = id >= 0 && id < byId.length ? byId[id] : undefined
        if (entry === undefined) reader.skip(type, 1)
        else if (entry.wire.type === TRUE && (type === TRUE || type === FALSE)) result[entry.key] = type === TRUE
        else if (entry.wire.type === type) result[entry.key] = entry.wire.read(reader)
        else
          throw corrupt(
            `${name}.${entry.key} before byte ${reader.offset} has Thrift type ${type}, not ${entry.wire.type}`,
          )
      }
      for (const entry of entries) {
        if (entry.required && result[entry.key] === undefined)
          throw corrupt(`${name} at byte ${start} has no ${entry.key}`)
      }
      return result as T
    },
    write(writer, value) {
      const properties = value as Record<string, unknown>
      let last = 0
      for (const { key, id, wire } of entries) {
        const property = properties[key]
        if (property === undefined) continue
        const type = wire.type === TRUE && property === false ? FALSE : wire.type
        if (id - last < 16) writer.byte(((id - last) << 4) | type)
        else {
          writer.byte(type)
          writer.integer(id)
        }
        last = id
        if (wire.type !== TRUE) wire.write(writer, property)
      }
      writer.byte(STOP)
    },
  }
}

/** The bytes of one value. */
export function encodeThrift<T>(wire: Wire<T>, value: T): Uint8Array {
  const writer = new ThriftWriter()
  wire.write(writer, value)
  return writer.finish()
}

/** One value at the start of `bytes`; what follows is ignored. */
export function decodeThrift<T>(wire: Wire<T>, bytes: Uint8Array): T {
  return wire.read(new ThriftReader(bytes))
}
