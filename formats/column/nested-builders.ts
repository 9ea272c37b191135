import { type ColumnBuilder, MaskBuilder, OffsetsBuilder } from './builder-memory.ts'
import type { Column, ListColumn, MapColumn, RowColumn } from './column.ts'
import type { Memory } from './memory.ts'

/** Builds a `ListColumn`: append the elements to `child`, then `endRow`. */
export class ListBuilder implements ColumnBuilder {
  readonly child: ColumnBuilder
  readonly #mask: MaskBuilder
  readonly #offsets: OffsetsBuilder

  constructor(child: ColumnBuilder, memory: Memory, rows: number) {
    this.child = child
    this.#mask = new MaskBuilder(memory)
    this.#offsets = new OffsetsBuilder(memory, rows)
  }

  get length(): number {
    return this.#offsets.length
  }

  get byteLength(): number {
    return this.child.byteLength + this.length * (4 + (this.#mask.hasNulls ? 1 : 0))
  }

  /** Ends a row that holds every element appended to `child` since the last one. */
  endRow(): void {
    this.#offsets.push(this.child.length)
  }

  appendNull(): void {
    this.#mask.setNull(this.length)
    this.endRow()
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as ListColumn
    this.#mask.append(this.length, rows?.length ?? from.length, from.valid, rows)
    this.child.appendColumn(from.child, appendEntries(this.#offsets, from, rows))
  }

  truncate(length: number): void {
    this.child.truncate(this.#offsets.at(length))
    this.#offsets.truncate(length)
    this.#mask.truncate(length)
  }

  view(): ListColumn {
    const { length } = this
    return {
      kind: 'list',
      length,
      offsets: this.#offsets.view(),
      child: this.child.view(),
      valid: this.#mask.view(length),
    }
  }
}

/** Builds a `MapColumn`: append as many entries to `keys` as to `values`, then `endRow`. */
export class MapBuilder implements ColumnBuilder {
  readonly keys: ColumnBuilder
  readonly values: ColumnBuilder
  readonly #mask: MaskBuilder
  readonly #offsets: OffsetsBuilder

  constructor(keys: ColumnBuilder, values: ColumnBuilder, memory: Memory, rows: number) {
    this.keys = keys
    this.values = values
    this.#mask = new MaskBuilder(memory)
    this.#offsets = new OffsetsBuilder(memory, rows)
  }

  get length(): number {
    return this.#offsets.length
  }

  get byteLength(): number {
    return this.keys.byteLength + this.values.byteLength + this.length * (4 + (this.#mask.hasNulls ? 1 : 0))
  }

  /** Ends a row that holds every entry appended since the last one. */
  endRow(): void {
    this.#offsets.push(this.keys.length)
  }

  appendNull(): void {
    this.#mask.setNull(this.length)
    this.endRow()
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as MapColumn
    this.#mask.append(this.length, rows?.length ?? from.length, from.valid, rows)
    const entries = appendEntries(this.#offsets, from, rows)
    this.keys.appendColumn(from.keys, entries)
    this.values.appendColumn(from.values, entries)
  }

  truncate(length: number): void {
    const end = this.#offsets.at(length)
    this.keys.truncate(end)
    this.values.truncate(end)
    this.#offsets.truncate(length)
    this.#mask.truncate(length)
  }

  view(): MapColumn {
    const { length } = this
    const entries = { keys: this.keys.view(), values: this.values.view() }
    return { kind: 'map', length, offsets: this.#offsets.view(), ...entries, valid: this.#mask.view(length) }
  }
}

/** Builds a `RowColumn`: append one value to each child, then `endRow`. */
export class RowBuilder implements ColumnBuilder {
  readonly children: readonly ColumnBuilder[]
  readonly #mask: MaskBuilder
  length = 0

  constructor(children: readonly ColumnBuilder[], memory: Memory) {
    this.children = children
    this.#mask = new MaskBuilder(memory)
  }

  get byteLength(): number {
    return this.children.reduce((sum, child) => sum + child.byteLength, this.#mask.hasNulls ? this.length : 0)
  }

  endRow(): void {
    this.length++
  }

  appendNull(): void {
    for (const child of this.children) child.appendNull()
    this.#mask.setNull(this.length++)
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as RowColumn
    const count = rows?.length ?? from.length
    this.#mask.append(this.length, count, from.valid, rows)
    this.children.forEach((child, index) => {
      child.appendColumn(from.children[index]!, rows)
    })
    this.length += count
  }

  truncate(length: number): void {
    for (const child of this.children) child.truncate(length)
    this.#mask.truncate(length)
    this.length = length
  }

  view(): RowColumn {
    const { length } = this
    return { kind: 'row', length, children: this.children.map((child) => child.view()), valid: this.#mask.view(length) }
  }
}

/** Appends the lengths of the chosen lists and returns the positions of their elements in the child. */
function appendEntries(
  target: OffsetsBuilder,
  from: { readonly offsets: Int32Array; readonly length: number },
  rows: Uint32Array | undefined,
): Uint32Array {
  const { offsets } = from
  const count = rows?.length ?? from.length
  let total = 0
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i]!
    total += offsets[row + 1]! - offsets[row]!
  }
  const elements = new Uint32Array(total)
  let at = 0
  let end = target.end
  target.reserve(count)
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i]!
    for (let element = offsets[row]!; element < offsets[row + 1]!; element++) elements[at++] = element
    end += offsets[row + 1]! - offsets[row]!
    target.push(end)
  }
  return elements
}
