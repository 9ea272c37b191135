export type CodecName = 'none' | 'snappy' | 'gzip' | 'lz4_raw' | 'lz4_hadoop' | 'zstd' | 'brotli'

/** One compression method, synchronous. Inputs are never changed; `none` returns its input itself. */
export interface Codec {
  readonly name: CodecName
  /** `level` means what the method's own tool means by it; methods without levels ignore it. */
  compress(bytes: Uint8Array, level?: number): Uint8Array
  /**
   * `uncompressedBytes` undefined = unknown, as in Avro blocks. Throws `CORRUPT` for damaged input and for any other length
   * than announced. The output is bounded by what is announced, else by `MAX_DECOMPRESSED_BYTES`. It may lie at the start of
   * `target`, where that is given and large enough.
   */
  decompress(bytes: Uint8Array, uncompressedBytes?: number, target?: Uint8Array): Uint8Array
}

/** The codecs of this thread. */
export interface Codecs {
  get(name: CodecName): Codec
}
