import { closeSync, fsync, openSync, promises, writeFile, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { isAbsent } from './file-error.ts'
import type { DirectoryEntry, FileSystem } from './file-system.ts'
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
  return {
    readFile: async (path) => plainBytes(await promises.readFile(path)),
    createFile: (path, bytes, { sync: wanted }) => createWhole(path, bytes, sync && wanted),
    link: (from, to) => promises.link(from, to),
    rename: (from, to) => promises.rename(from, to),
    unlink: (path) => promises.unlink(path),
    removeDirectory: (path) => promises.rmdir(path),
    makeDirectory: async (path) => {
      await promises.mkdir(path, { recursive: true })
      directories.syncChain(path)
    },
    list: async (path) => (await promises.readdir(path, { withFileTypes: true })).map(toEntry),
    stat: async (path) => {
      try {
        const { size, mtimeMs } = await promises.stat(path)
        return { bytes: size, modifiedMillis: Math.floor(mtimeMs) }
      } catch (error) {
        if (isAbsent(error)) return undefined
        throw error
      }
    },
    syncDirectory: async (path) => directories.syncOne(path),
    realPath: (path) => promises.realpath(path),
    openSource: openNodeSource,
    createSink: (path) => createNodeSink(path, directories, sync),
  }
}

/** Bytes that are written at once: into memory of the system, which takes less time than to ask another thread. */
const SMALL_BYTES = 64 * 1024

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

const writeAll = promisify(writeFile)
const syncFile = promisify(fsync)

function toEntry(entry: { readonly name: string; isFile(): boolean; isDirectory(): boolean }): DirectoryEntry {
  return { name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other' }
}
