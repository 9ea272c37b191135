import { startOf } from './bytes-encode.ts'
import { grown } from './page-values.ts'

/*
 * Dictionaries by open addressing: `slots` holds id + 1 where a value was put, 0 where nothing is; a value goes to the first
 * free slot after that of its hash. Never more than half full. Ids count up in the order in which values were first seen.
 */
const FIRST_SLOTS = 1024

/** Distinct values of a chunk and their ids. */
export interface Dictionary {
  readonly size: number
  /** PLAIN bytes of all values, in the order of their ids: a view. */
  plain(): Uint8Array
}

/** Values of one or two 32-bit words, compared by their bits: 0.0 and -0.0 stay two values. */
export class WordDictionary implements Dictionary {
  size = 0
  private readonly perValue: 1 | 2
  private words: Int32Array = new Int32Array(256)
  private slots: Int32Array = new Int32Array(FIRST_SLOTS)

  constructor(width: 4 | 8) {
    this.perValue = width === 4 ? 1 : 2
  }

  /** Ids of values `[from, to)`; new values are added. */
  encode(values: Int32Array, from: number, to: number, ids: Int32Array): void {
    if (this.perValue === 1) this.encode1(values, from, to, ids)
    else this.encode2(values, from, to, ids)
  }

  plain(): Uint8Array {
    return new Uint8Array(this.words.buffer, 0, this.size * this.perValue * 4)
  }

  private encode1(values: Int32Array, from: number, to: number, ids: Int32Array): void {
    for (let i = from; i < to; i++) {
      const value = values[i]!
      let slot = mix(value) & (this.slots.length - 1)
      let id = this.slots[slot]! - 1
      while (id >= 0 && this.words[id] !== value) {
        slot = (slot + 1) & (this.slots.length - 1)
        id = this.slots[slot]! - 1
      }
      ids[i] = id >= 0 ? id : this.add(slot, value, 0)
    }
  }

  private encode2(values: Int32Array, from: number, to: number, ids: Int32Array): void {
    for (let i = from; i < to; i++) {
      const low = values[2 * i]!
      const high = values[2 * i + 1]!
      let slot = mix(low ^ Math.imul(high, 0x9e3779b1)) & (this.slots.length - 1)
      let id = this.slots[slot]! - 1
      while (id >= 0 && (this.words[2 * id] !== low || this.words[2 * id + 1] !== high)) {
        slot = (slot + 1) & (this.slots.length - 1)
        id = this.slots[slot]! - 1
      }
      ids[i] = id >= 0 ? id : this.add(slot, low, high)
    }
  }

  private add(slot: number, low: number, high: number): number {
    const id = this.size++
    const { perValue } = this
    if ((id + 1) * perValue > this.words.length) {
      this.words = new Int32Array(
        grown(new Uint8Array(this.words.buffer), id * perValue * 4, this.words.length * 8).buffer,
      )
    }
    this.words[id * perValue] = low
    if (perValue === 2) this.words[2 * id + 1] = high
    this.slots[slot] = id + 1
    if (this.size * 2 > this.slots.length) this.rehash()
    return id
  }

  private rehash(): void {
    const slots = new Int32Array(this.slots.length * 4)
    for (let id = 0; id < this.size; id++) {
      const { words } = this
      const hash =
        this.perValue === 1 ? mix(words[id]!) : mix(words[2 * id]! ^ Math.imul(words[2 * id + 1]!, 0x9e3779b1))
      let slot = hash & (slots.length - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = id + 1
    }
    this.slots = slots
  }
}

/** Byte strings, kept in PLAIN form. */
export class BytesDictionary implements Dictionary {
  size = 0
  private bytes: Uint8Array = new Uint8Array(1024)
  private ends: Int32Array = new Int32Array(256)
  private hashes: Int32Array = new Int32Array(256)
  private slots: Int32Array = new Int32Array(FIRST_SLOTS)

  /** Ids of the values that `ends` describes, from number `from` to `to`; new values are added. */
  encode(source: Uint8Array, ends: Int32Array, from: number, to: number, ids: Int32Array): void {
    for (let i = from; i < to; i++) {
      const start = startOf(ends, i)
      const end = ends[i]!
      let hash = end - start
      for (let j = start; j < end; j++) hash = Math.imul(hash ^ source[j]!, 0x01000193)
      hash = mix(hash)
      let slot = hash & (this.slots.length - 1)
      let id = this.slots[slot]! - 1
      while (id >= 0 && !(this.hashes[id] === hash && this.equals(id, source, start, end))) {
        slot = (slot + 1) & (this.slots.length - 1)
        id = this.slots[slot]! - 1
      }
      ids[i] = id >= 0 ? id : this.add(slot, hash, source, start, end)
    }
  }

  plain(): Uint8Array {
    return this.bytes.subarray(0, this.size === 0 ? 0 : this.ends[this.size - 1])
  }

  private equals(id: number, source: Uint8Array, start: number, end: number): boolean {
    let at = startOf(this.ends, id)
    if (this.ends[id]! - at !== end - start) return false
    for (let i = start; i < end; i++, at++) if (this.bytes[at] !== source[i]) return false
    return true
  }

  private add(slot: number, hash: number, source: Uint8Array, start: number, end: number): number {
    const id = this.size++
    const used = id === 0 ? 0 : this.ends[id - 1]!
    const from = start - 4
    this.bytes = grown(this.bytes, used, used + end - from)
    this.bytes.set(source.subarray(from, end), used)
    if (id >= this.ends.length) {
      this.ends = doubled(this.ends)
      this.hashes = doubled(this.hashes)
    }
    this.ends[id] = used + end - from
    this.hashes[id] = hash
    this.slots[slot] = id + 1
    if (this.size * 2 > this.slots.length) this.rehash()
    return id
  }

  private rehash(): void {
    const slots = new Int32Array(this.slots.length * 4)
    for (let id = 0; id < this.size; id++) {
      let slot = this.hashes[id]! & (slots.length - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = id + 1
    }
    this.slots = slots
  }
}

function doubled(array: Int32Array): Int32Array {
  const next = new Int32Array(array.length * 2)
  next.set(array)
  return next
}

/** Spreads the bits, so that the low ones depend on all. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
