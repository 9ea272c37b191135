import { BytesValues } from './bytes-encode.ts'
import { chooseDelta, encodeDelta } from './delta-encode.ts'
import { BytesDictionary, type Dictionary, WordDictionary } from './dictionary-encode.ts'
import { Encoding, PhysicalType } from './footer.ts'
import { grown, type PageValues } from './page-values.ts'
import { WordValues } from './plain-encode.ts'
import { bitsFor, encodeHybrid, hybridBound } from './rle-encode.ts'

export interface EncodingOptions {
  readonly dictionary: boolean
  /** Past this a dictionary takes no more pages. */
  readonly dictionaryPageBytes: number
}

/** Values looked at first: when all of them differ, a dictionary is not tried on the rest. */
const SAMPLE = 1024
/** Ids are packed in at most 24 bits, and a dictionary is one page. */
const MAX_DICTIONARY_BYTES = 16 * 1024 * 1024

/**
 * Chooses how the values of one chunk are encoded, on its first page that has any: by dictionary when page and dictionary together
 * are smaller than PLAIN (Java's rule), by deltas when `chooseDelta` says so or they come out smaller on trial, else PLAIN. Later pages follow, except that a
 * dictionary that has grown too large takes no more.
 */
export class ValueEncoder {
  dictionary: (Dictionary & (WordDictionary | BytesDictionary)) | undefined
  private choice: 'open' | 'plain' | 'dictionary' | 'delta' = 'open'
  private readonly options: EncodingOptions
  private readonly physical: number
  private readonly values: PageValues
  private readonly packedBytes: (bytes: Uint8Array) => number
  private ids: Int32Array = new Int32Array(0)

  /** `packedBytes`: what compression makes of these. */
  constructor(
    physical: number,
    values: PageValues,
    options: EncodingOptions,
    packedBytes: (bytes: Uint8Array) => number,
  ) {
    this.physical = physical
    this.values = values
    this.options = options
    this.packedBytes = packedBytes
  }

  /** Forgets the chunk. */
  reset(): void {
    this.choice = 'open'
    this.dictionary = undefined
  }

  /**
   * Writes the values of the page behind `at` bytes of `body`. Returns the body, which may have moved, its length, and the
   * encoding.
   */
  encode(
    body: Uint8Array,
    at: number,
  ): { readonly body: Uint8Array; readonly length: number; readonly encoding: number } {
    const { values } = this
    if (this.choice === 'open' && values.count > 0) {
      const tried = this.tryDictionary(body, at)
      if (tried !== undefined) return tried
      this.choice = this.prefersDelta(body, at) ? 'delta' : 'plain'
    }
    if (this.choice === 'dictionary' && values.count > 0) {
      this.encodeIds(0, values.count)
      if (this.dictionary!.plain().length > this.dictionaryLimit()) this.choice = 'plain'
      return this.putIds(body, at)
    }
    if (this.choice === 'delta' && values instanceof WordValues) {
      return {
        ...encodeDelta(values.words, values.count, values.width, body, at),
        encoding: Encoding.DELTA_BINARY_PACKED,
      }
    }
    const plain = values.plain()
    const target = grown(body, at, at + plain.length)
    target.set(plain, at)
    return { body: target, length: at + plain.length, encoding: Encoding.PLAIN }
  }

  private dictionaryLimit(): number {
    return Math.min(this.options.dictionaryPageBytes, MAX_DICTIONARY_BYTES)
  }

  /** `body` is free from `at` on. */
  private prefersDelta(body: Uint8Array, at: number): boolean {
    const { values, physical } = this
    if (physical !== PhysicalType.INT32 && physical !== PhysicalType.INT64) return false
    if (!(values instanceof WordValues)) return false
    const delta = chooseDelta(values.words, values.count, values.width)
    if (delta !== 'perhaps') return delta === 'yes'
    const { body: deltas, length } = encodeDelta(values.words, values.count, values.width, body, at)
    return this.packedBytes(deltas.subarray(at, length)) <= this.packedBytes(values.plain())
  }

  private tryDictionary(body: Uint8Array, at: number): ReturnType<ValueEncoder['encode']> | undefined {
    const { values } = this
    if (!this.options.dictionary) return undefined
    if (values instanceof WordValues) this.dictionary = new WordDictionary(values.width)
    else if (values instanceof BytesValues) this.dictionary = new BytesDictionary()
    else return undefined

    const sample = Math.min(SAMPLE, values.count)
    this.encodeIds(0, sample)
    if (sample < values.count && this.dictionary.size < sample) this.encodeIds(sample, values.count)
    else if (sample < values.count) {
      this.dictionary = undefined
      return undefined
    }
    const bytes = this.dictionary.plain().length
    if (bytes < values.plainBytes && bytes <= this.dictionaryLimit()) {
      const put = this.putIds(body, at)
      if (put.length - at + bytes < values.plainBytes) {
        this.choice = 'dictionary'
        return put
      }
    }
    this.dictionary = undefined
    return undefined
  }

  private encodeIds(from: number, to: number): void {
    const { values, dictionary } = this
    if (this.ids.length < values.count) this.ids = new Int32Array(Math.max(values.count, this.ids.length * 2))
    if (values instanceof WordValues) (dictionary as WordDictionary).encode(values.words, from, to, this.ids)
    else if (values instanceof BytesValues) {
      ;(dictionary as BytesDictionary).encode(values.bytes, values.ends, from, to, this.ids)
    }
  }

  /** The width of the ids in a byte, then the ids. */
  private putIds(body: Uint8Array, at: number): ReturnType<ValueEncoder['encode']> {
    const { count } = this.values
    const bitWidth = bitsFor(this.dictionary!.size - 1)
    const target = grown(body, at, at + 1 + hybridBound(count, bitWidth))
    target[at] = bitWidth
    const length = encodeHybrid(this.ids, count, bitWidth, target, at + 1)
    // Data pages of version 1 keep the older name of RLE_DICTIONARY, as Java writes it.
    return { body: target, length, encoding: Encoding.PLAIN_DICTIONARY }
  }
}
