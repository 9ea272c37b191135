import {
  closeSync,
  fstatSync,
  fsync,
  linkSync,
  openSync,
  promises,
  readFile,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  writeFile,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { isAbsent } from './file-error.ts'
import type { DirectoryEntry, FileSystem } from './file-system.ts'
import { breathe } from './node-clock.ts'
import { createDirectorySync } from './node-directory-sync.ts'
import { createNodeSink, openNodeSource, plainBytes } from './node-fs-handles.ts'

/** How hard `createNodeFileSystem` tries to survive a power cut. */
export interface NodeFileSystemOptions {
  /** False skips every fsync: a killed process loses nothing, a power cut may. Default true. */
  readonly sync?: boolean
}

/**
 * The local disk. Nothing is created by the calls that read, so a table on read-only media can be read. A folder made by
 * `makeDirectory`, or on the way by `createSink`, is durable once the call, or the sink's `sync`, has returned.
 */
export function createNodeFileSystem(options: NodeFileSystemOptions = {}): FileSystem {
  const sync = options.sync ?? true
  const directories = createDirectorySync(sync)
  const turns = createTurns()
  return {
    readFile: async (path) => {
      await turns()
      return readWhole(path)
    },
    createFile: (path, bytes, { sync: wanted }) => createWhole(path, bytes, sync && wanted),
    syncFile: async (path) => {
      if (sync) await syncThere(path)
    },
    link: async (from, to) => linkSync(from, to),
    rename: async (from, to) => renameSync(from, to),
    unlink: (path) => promises.unlink(path),
    removeDirectory: (path) => promises.rmdir(path),
    makeDirectory: async (path) => {
      await promises.mkdir(path, { recursive: true })
      directories.syncChain(path)
    },
    list: async (path) => (await promises.readdir(path, { withFileTypes: true })).map(toEntry),
    stat: async (path) => {
      await turns()
      try {
        const found = statSync(path, { throwIfNoEntry: false })
        return found && { bytes: found.size, modifiedMillis: Math.floor(found.mtimeMs) }
      } catch (error) {
        if (isAbsent(error)) return undefined
        throw error
      }
    },
    syncDirectory: (path) => directories.syncLater(path),
    realPath: async (path) => realpathSync.native(path),
    openSource: openNodeSource,
    createSink: (path) => createNodeSink(path, directories, sync),
  }
}

/**
 * Bytes that are moved at once, from and to memory of the system: that takes less time than to ask another thread, which some 0.1 ms
 * of this one goes into. So do calls that only look a name up or give one; not those that wait for the disk or free its blocks.
 */
const SMALL_BYTES = 64 * 1024

/** Milliseconds in which calls that are done at once may follow each other without a turn for the rest of the process. */
const TURN_MILLIS = 10

/** Lets the event loop go round when that was not done for long: who reads in a loop would else hold up all others. */
function createTurns(): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < TURN_MILLIS) return undefined
    return breathe().then(() => {
      last = performance.now()
    })
  }
}

async function readWhole(path: string): Promise<Uint8Array> {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    if (size > SMALL_BYTES) return plainBytes(await readAll(descriptor))
    // One byte more than there should be: a file that grew meanwhile is read to its end.
    let bytes = new Uint8Array(size + 1)
    for (let done = 0; ; ) {
      const got = readSync(descriptor, bytes, done, bytes.length - done, null)
      done += got
      if (got === 0) return bytes.slice(0, done)
      if (done === bytes.length) bytes = grown(bytes)
    }
  } finally {
    closeSync(descriptor)
  }
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2)
  larger.set(bytes)
  return larger
}

const readAll = promisify(readFile)

async function createWhole(path: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  const descriptor = openSync(path, 'wx')
  try {
    try {
      if (bytes.length > SMALL_BYTES) await writeAll(descriptor, bytes)
      else for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
      if (sync) await syncFile(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // The name is ours (exclusive create), so removing it cannot hurt anyone; the first error is the one to report.
    await promises.unlink(path).catch(() => {})
    throw error
  }
}

/**
 * Opened again: what the system could not write meanwhile it tells the next that asks. For writing, since Windows syncs no
 * other; a file has its bytes by then and gets no more.
 */
async function syncThere(path: string): Promise<void> {
  const descriptor = openSync(path, 'r+')
  try {
    await syncFile(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const writeAll = promisify(writeFile)
const syncFile = promisify(fsync)

function toEntry(entry: { readonly name: string; isFile(): boolean; isDirectory(): boolean }): DirectoryEntry {
  return { name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other' }
}
