import type { ByteSink, ByteSource } from '../../formats/bytes/source.ts'

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other'
}

export interface FileStat {
  readonly bytes: number
  readonly modifiedMillis: number
}

/** A data file open for reading. Closing twice is harmless. */
export interface OpenSource extends ByteSource {
  close(): void
}

/** A data file being written. `close` does not sync; `sync` makes the bytes durable. */
export interface OpenSink extends ByteSink {
  readonly bytesWritten: number
  sync(): void
  close(): void
}

/**
 * Every file operation of the engine. Paths are absolute. Errors are Node's (`code` ENOENT, EEXIST, ENOSPC, …); `store/`
 * turns them into `TableError`s. Metadata calls give promises; data files are read and written synchronously, from
 * worker threads (docs/adr/0001-synchronous-data-files.md).
 */
export interface FileSystem {
  /** Whole content; ENOENT when absent. */
  readFile(path: string): Promise<Uint8Array>
  /** Creates a file that must not exist (else EEXIST), writes all, and syncs it when `sync`. A failure leaves no file behind. */
  createFile(path: string, bytes: Uint8Array, options: { readonly sync: boolean }): Promise<void>
  /** Makes the bytes of a file durable; ENOENT when absent. Its name becomes so with `syncDirectory`. */
  syncFile(path: string): Promise<void>
  /** Hard link `to` → `from`; EEXIST when `to` is taken, never a replacement. */
  link(from: string, to: string): Promise<void>
  /** Replaces `to`. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file; ENOENT when absent. */
  unlink(path: string): Promise<void>
  /** Removes an empty folder; ENOTEMPTY or ENOENT otherwise. */
  removeDirectory(path: string): Promise<void>
  /** Creates a folder and its parents; fine when present. */
  makeDirectory(path: string): Promise<void>
  /** Entries of a folder, in no order; ENOENT when absent. */
  list(path: string): Promise<readonly DirectoryEntry[]>
  /** Undefined when absent. */
  stat(path: string): Promise<FileStat | undefined>
  /** Makes the entries of a folder durable, and the names of the folders that it lies in. */
  syncDirectory(path: string): Promise<void>
  /** Canonical absolute path, symbolic links resolved. */
  realPath(path: string): Promise<string>
  openSource(path: string): OpenSource
  /** Creates a file that must not exist; parent folders are created. */
  createSink(path: string): OpenSink
}
