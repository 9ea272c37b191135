import { closeSync, fsync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { fileErrorCode } from './file-error.ts'

/** Makes entries of folders durable. */
export interface DirectorySync {
  /** The entries of `path`, and the path itself from the root down. */
  syncChain(path: string): void
  /** The same, without waiting for the disk on this thread where only entries may have changed. */
  syncLater(path: string): Promise<void>
}

/**
 * A file is only as durable as every folder above it. Folders may be made by any thread, and the thread that made one may die
 * before syncing it: so the first file that a thread puts into a folder syncs the whole chain above, and the chain is
 * remembered by the folder's identity (a folder that was removed and made again has another one). An fsync of a folder
 * without changes is cheap; a remembered chain costs one `stat`.
 */
export function createDirectorySync(enabled: boolean): DirectorySync {
  const durable = new Map<string, string>()

  function syncChain(path: string): void {
    if (!enabled) return
    syncFolder(path)
    syncAbove(path)
  }

  async function syncLater(path: string): Promise<void> {
    if (!enabled) return
    await syncFolderLater(path)
    syncAbove(path)
  }

  function syncAbove(path: string): void {
    const seen: [path: string, identity: string][] = []
    let child = path
    let parent = dirname(child)
    while (parent !== child) {
      const identity = identityOf(child)
      if (durable.get(child) === identity) break
      try {
        syncFolder(parent)
      } catch (error) {
        // We may not read a folder above the warehouse: then it is not ours, and whoever owns it made it durable.
        if (!isForbidden(error)) throw error
      }
      seen.push([child, identity])
      child = parent
      parent = dirname(child)
    }
    for (const [folder, identity] of seen) durable.set(folder, identity)
  }

  return { syncChain, syncLater }
}

function syncFolder(path: string): void {
  try {
    const descriptor = openSync(path, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!cannotSyncFolders(error)) throw error
  }
}

async function syncFolderLater(path: string): Promise<void> {
  try {
    const descriptor = openSync(path, 'r')
    try {
      await syncDescriptor(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!cannotSyncFolders(error)) throw error
  }
}

const syncDescriptor = promisify(fsync)

/** Some file systems, and Windows, have no fsync of a folder; their entries are durable by other means or not at all. */
function cannotSyncFolders(error: unknown): boolean {
  const code = fileErrorCode(error)
  if (code === 'EINVAL' || code === 'ENOTSUP' || code === 'ENOSYS') return true
  return process.platform === 'win32' && (code === 'EPERM' || code === 'EISDIR' || code === 'EACCES')
}

function isForbidden(error: unknown): boolean {
  const code = fileErrorCode(error)
  return code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
}

function identityOf(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${dev}:${ino}:${birthtimeNs}`
}
