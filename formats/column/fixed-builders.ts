import { type ColumnBuilder, grown, MaskBuilder } from './builder-memory.ts'
import type { Column, FixedArray, FixedColumn, Storage, WideColumn } from './column.ts'
import { arrays } from './constant.ts'
import type { Memory } from './memory.ts'

/** Builds a `FixedColumn`. `pushNumber` is for all storages but int64, `pushBigInt` for int64 only. */
export class FixedBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  #values: FixedArray
  #shown = 0
  length = 0

  constructor(storage: Exclude<Storage, 'wide' | 'bytes' | 'nested'>, memory: Memory, rows: number) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#values = grown<FixedArray>(new arrays[storage](0), 0, Math.max(rows, 1), memory)
  }

  get byteLength(): number {
    return this.length * (this.#values.BYTES_PER_ELEMENT + (this.#mask.hasNulls ? 1 : 0))
  }

  pushNumber(value: number): void {
    if (this.length === this.#values.length) this.reserve(1)
    ;(this.#values as Float64Array)[this.length++] = value
  }

  pushBigInt(value: bigint): void {
    if (this.length === this.#values.length) this.reserve(1)
    ;(this.#values as BigInt64Array)[this.length++] = value
  }

  /** Appends, for int64, the leading values of `[from, to)` that are safe integers; tells how many. No bigint is made. */
  pushSafeIntegers(values: readonly unknown[], from: number, to: number): number {
    this.reserve(to - from)
    const halves = new Int32Array(this.#values.buffer, this.#values.byteOffset, this.#values.length * 2)
    let slot = this.length * 2
    let at = from
    for (; at < to; at++) {
      const value = values[at]
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) break
      halves[slot++] = value
      halves[slot++] = Math.floor(value / 0x100000000)
    }
    this.length += at - from
    return at - from
  }

  /** Appends, for int8 to int32, the leading values of `[from, to)` that are whole numbers of that range; tells how many. */
  pushIntegers(values: readonly unknown[], from: number, to: number, min: number, max: number): number {
    this.reserve(to - from)
    const target = this.#values as Int32Array
    let slot = this.length
    let at = from
    for (; at < to; at++) {
      const value = values[at]
      if (typeof value !== 'number' || (value | 0) !== value || value < min || value > max) break
      target[slot++] = value
    }
    this.length += at - from
    return at - from
  }

  /** Appends, for float64, the leading values of `[from, to)` that are numbers; tells how many. */
  pushDoubles(values: readonly unknown[], from: number, to: number): number {
    this.reserve(to - from)
    const target = this.#values as Float64Array
    let slot = this.length
    let at = from
    for (; at < to; at++) {
      const value = values[at]
      if (typeof value !== 'number') break
      target[slot++] = value
    }
    this.length += at - from
    return at - from
  }

  /** The value of a row that is not null. */
  at(row: number): number | bigint {
    return this.#values[row]!
  }

  appendNull(): void {
    if (this.length === this.#values.length) this.reserve(1)
    this.#mask.setNull(this.length)
    if (this.#values instanceof BigInt64Array) this.#values[this.length++] = 0n
    else this.#values[this.length++] = 0
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as FixedColumn
    const count = rows?.length ?? from.length
    this.reserve(count)
    this.#mask.append(this.length, count, from.valid, rows)
    if (rows === undefined) (this.#values as Uint8Array).set(from.values.subarray(0, count) as Uint8Array, this.length)
    else copyRows(from.values, rows, this.#values, this.length)
    this.length += count
  }

  reserve(rows: number): void {
    const needed = this.length + rows
    if (needed > this.#values.length) {
      this.#values = grown(this.#values, this.length, Math.max(needed, this.#values.length * 2), this.#memory)
    }
  }

  truncate(length: number): void {
    if (length < this.#shown) {
      this.#values = grown(this.#values, length, this.#values.length, this.#memory)
      this.#shown = length
    }
    this.#mask.truncate(length)
    this.length = length
  }

  view(): FixedColumn {
    const length = this.length
    this.#shown = Math.max(this.#shown, length)
    return { kind: 'fixed', length, values: this.#values.subarray(0, length), valid: this.#mask.view(length) }
  }
}

function copyRows(from: FixedArray, rows: Uint32Array, to: FixedArray, at: number): void {
  if (from instanceof BigInt64Array) {
    const target = to as BigInt64Array
    for (let i = 0; i < rows.length; i++) target[at + i] = from[rows[i]!]!
  } else if (from instanceof Int32Array) {
    for (let i = 0; i < rows.length; i++) to[at + i] = from[rows[i]!]!
  } else {
    const source = from as Float64Array
    for (let i = 0; i < rows.length; i++) to[at + i] = source[rows[i]!]!
  }
}

/** Builds a `WideColumn`: signed 128-bit integers. */
export class WideBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  #values: BigInt64Array
  #shown = 0
  length = 0

  constructor(memory: Memory, rows: number) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#values = new BigInt64Array(memory(Math.max(rows, 1) * 16))
  }

  get byteLength(): number {
    return this.length * (16 + (this.#mask.hasNulls ? 1 : 0))
  }

  /** The caller has checked that the value fits 128 bits. */
  push(value: bigint): void {
    this.#reserve(1)
    this.#values[this.length * 2] = BigInt.asIntN(64, value)
    this.#values[this.length * 2 + 1] = value >> 64n
    this.length++
  }

  /** The value of a row that is not null. */
  at(row: number): bigint {
    return (this.#values[row * 2 + 1]! << 64n) | BigInt.asUintN(64, this.#values[row * 2]!)
  }

  appendNull(): void {
    this.#mask.setNull(this.length)
    this.push(0n)
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as WideColumn
    const count = rows?.length ?? from.length
    this.#reserve(count)
    this.#mask.append(this.length, count, from.valid, rows)
    const at = this.length * 2
    if (rows === undefined) this.#values.set(from.values.subarray(0, count * 2), at)
    else {
      for (let i = 0; i < count; i++) {
        this.#values[at + i * 2] = from.values[rows[i]! * 2]!
        this.#values[at + i * 2 + 1] = from.values[rows[i]! * 2 + 1]!
      }
    }
    this.length += count
  }

  truncate(length: number): void {
    if (length < this.#shown) {
      this.#values = grown(this.#values, length * 2, this.#values.length, this.#memory)
      this.#shown = length
    }
    this.#mask.truncate(length)
    this.length = length
  }

  view(): WideColumn {
    const length = this.length
    this.#shown = Math.max(this.#shown, length)
    return { kind: 'wide', length, values: this.#values.subarray(0, length * 2), valid: this.#mask.view(length) }
  }

  #reserve(rows: number): void {
    const needed = (this.length + rows) * 2
    if (needed > this.#values.length) {
      this.#values = grown(this.#values, this.length * 2, Math.max(needed, this.#values.length * 2), this.#memory)
    }
  }
}
