/**
 * All that a codec knows of files. Both are synchronous: codecs run on worker threads, where a blocking read is cheaper
 * than a hop through the event loop (docs/adr/0001-synchronous-data-files.md).
 */
export interface ByteSource {
  /** Length of the whole file in bytes. */
  readonly bytes: number
  /** Bytes `[offset, offset + length)`; throws when the range passes the end. The result may be shared: do not change it. */
  read(offset: number, length: number): Uint8Array
}

/** Append-only. `write` takes the bytes at once: the caller may reuse the array afterwards. */
export interface ByteSink {
  write(bytes: Uint8Array): void
}
