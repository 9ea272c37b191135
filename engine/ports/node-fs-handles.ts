import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkRange, fileError, fileErrorCode } from './file-error.ts'
import type { OpenSink, OpenSource } from './file-system.ts'
import type { DirectorySync } from './node-directory-sync.ts'

/** Writes below this size are gathered: page headers and small pages would cost a system call each. */
const GATHER_BYTES = 64 * 1024
/** One read or write call moves at most 2 GiB; a margin below it. */
const MOVE_BYTES = 1 << 30
const MKDIR_ATTEMPTS = 3

/** The same bytes as a plain `Uint8Array`: a `Buffer` differs in `slice`, which would share instead of copy. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Opens a file for positioned reads. Its length is that of the moment of opening: data files never change. */
export function openNodeSource(path: string): OpenSource {
  let descriptor: number | undefined = openSync(path, 'r')
  let bytes: number
  try {
    bytes = fstatSync(descriptor).size
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  return {
    bytes,
    read(offset, length) {
      if (descriptor === undefined) throw fileError('EBADF', 'read', path)
      checkRange(offset, length, bytes, path)
      const target = new Uint8Array(length)
      let done = 0
      while (done < length) {
        const got = readSync(descriptor, target, done, Math.min(length - done, MOVE_BYTES), offset + done)
        if (got === 0) throw new RangeError(`${path} ended at byte ${offset + done}, expected ${bytes} bytes`)
        done += got
      }
      return target
    },
    close() {
      if (descriptor === undefined) return
      const open = descriptor
      descriptor = undefined
      closeSync(open)
    },
  }
}

/** Creates a file, and its parent folders, for appending. `close` after a failed write does not try to write the rest. */
export function createNodeSink(path: string, directories: DirectorySync, sync: boolean): OpenSink {
  const folder = dirname(path)
  let descriptor: number | undefined = openExclusive(path, folder)
  const gathered = new Uint8Array(GATHER_BYTES)
  let gatheredBytes = 0
  let written = 0
  let failed = false

  function writeAll(bytes: Uint8Array): void {
    if (descriptor === undefined) throw fileError('EBADF', 'write', path)
    let done = 0
    try {
      while (done < bytes.length) {
        done += writeSync(descriptor, bytes, done, Math.min(bytes.length - done, MOVE_BYTES))
      }
    } catch (error) {
      failed = true
      throw error
    }
  }

  function flush(): void {
    if (gatheredBytes === 0) return
    const bytes = gathered.subarray(0, gatheredBytes)
    gatheredBytes = 0
    writeAll(bytes)
  }

  return {
    get bytesWritten() {
      return written
    },
    write(bytes) {
      if (descriptor === undefined) throw fileError('EBADF', 'write', path)
      if (gatheredBytes + bytes.length > GATHER_BYTES) flush()
      if (bytes.length >= GATHER_BYTES) writeAll(bytes)
      else {
        gathered.set(bytes, gatheredBytes)
        gatheredBytes += bytes.length
      }
      written += bytes.length
    },
    sync() {
      if (descriptor === undefined) throw fileError('EBADF', 'fsync', path)
      flush()
      if (!sync) return
      fsyncSync(descriptor)
      directories.syncChain(folder)
    },
    close() {
      if (descriptor === undefined) return
      const open = descriptor
      try {
        if (!failed) flush()
      } finally {
        descriptor = undefined
        closeSync(open)
      }
    },
  }
}

function openExclusive(path: string, folder: string): number {
  for (let attempt = 0; ; attempt++) {
    try {
      return openSync(path, 'wx')
    } catch (error) {
      // Expiry may remove an empty folder between the two calls: then it is made again.
      if (fileErrorCode(error) !== 'ENOENT' || attempt === MKDIR_ATTEMPTS) throw error
      mkdirSync(folder, { recursive: true })
    }
  }
}
