import { posix } from 'node:path'
import { temporaryName } from '../../formats/meta/names.ts'
import { TableError } from '../errors.ts'
import { fileErrorCode } from '../ports/file-error.ts'
import type { FileSystem } from '../ports/file-system.ts'
import type { Random } from '../ports/random.ts'
import { toTableError, withPath } from './errors.ts'

/**
 * What the three ways to write a file of a table need.
 *
 * 1. `createUnique`: a name nobody else can have (it holds a UUID). Data, manifests, indexes.
 * 2. `publishOnce`: a name that counts, like `snapshot-7`. Whoever links it first has it; it never changes afterwards.
 * 3. `replace`: a name whose content changes, like `LATEST`. Readers see the old bytes or the new ones, never a mixture.
 *
 * Nothing is visible before the snapshot that names it (I2): everything of the first kind, and the folders it lies in, are
 * synced before the link of the second kind.
 */
export interface Publisher {
  readonly fs: FileSystem
  readonly random: Random
}

/**
 * Creates a file under a unique name, with its folder when absent. Only the bytes are durable, without `sync` not even these: whoever
 * publishes the file that names this one calls `fs.syncDirectory` once for all of them.
 */
export async function createUnique(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
  { sync }: { readonly sync: boolean } = { sync: true },
): Promise<void> {
  try {
    await createWithFolder(fs, path, bytes, sync)
  } catch (error) {
    throw toTableError(error, path)
  }
}

/** A file that lies ready under a name that no reader sees. */
export interface PreparedFile {
  /** Makes its bytes durable: before `publish`. */
  sync(): Promise<void>
  /**
   * Gives the file its name: `taken` when that is taken, and nothing has changed. An error thrown with `details.outcome ===
   * 'unknown'` may have published the file: read the name to learn it. After any other error it was not. `beside` runs once the
   * name is there, while that is made durable, and must not reject.
   */
  publish(beside?: () => Promise<unknown>): Promise<'published' | 'taken'>
  /** Removes the file instead. */
  drop(): Promise<void>
}

/** Writes a file that is to be published under a name that may be taken. */
export async function prepareOnce({ fs, random }: Publisher, path: string, bytes: Uint8Array): Promise<PreparedFile> {
  const temporary = temporaryPath(path, random)
  try {
    await createWithFolder(fs, temporary, bytes, false)
  } catch (error) {
    throw toTableError(error, temporary)
  }
  // A temporary file that stays is hidden from every reader and goes with the orphans.
  const drop = () => fs.unlink(temporary).catch(() => undefined)
  return {
    sync: () => withPath(temporary, () => fs.syncFile(temporary)),
    drop,
    async publish(beside) {
      let others: Promise<unknown> | undefined
      try {
        const outcome = await linkOnce(fs, temporary, path)
        others = Promise.all([drop(), outcome === 'published' && beside?.()])
        if (outcome === 'published') await syncPublished(fs, path)
        return outcome
      } finally {
        await (others ?? drop())
      }
    },
  }
}

/** Publishes a file under a name that may be taken, as `PreparedFile.publish`. */
export async function publishOnce(
  publisher: Publisher,
  path: string,
  bytes: Uint8Array,
): Promise<'published' | 'taken'> {
  const file = await prepareOnce(publisher, path, bytes)
  try {
    await file.sync()
  } catch (error) {
    await file.drop()
    throw error
  }
  return file.publish()
}

async function syncPublished(fs: FileSystem, path: string): Promise<void> {
  try {
    await fs.syncDirectory(posix.dirname(path))
  } catch (error) {
    throw toTableError(error, path, { outcome: 'unknown' })
  }
}

/** Replaces a file in one step. With `durable: false` a power cut may bring the old content back, or leave none. */
export async function replace(
  { fs, random }: Publisher,
  path: string,
  bytes: Uint8Array,
  { durable }: { readonly durable: boolean } = { durable: true },
): Promise<void> {
  const temporary = temporaryPath(path, random)
  try {
    await createWithFolder(fs, temporary, bytes, durable)
    try {
      await fs.rename(temporary, path)
    } catch (error) {
      await fs.unlink(temporary).catch(() => undefined)
      throw error
    }
    if (durable) await fs.syncDirectory(posix.dirname(path))
  } catch (error) {
    throw toTableError(error, path)
  }
}

/** `.<name>.<uuid>.tmp` beside the target, as Paimon names it: no reader lists it. */
function temporaryPath(path: string, random: Random): string {
  return posix.join(posix.dirname(path), temporaryName(posix.basename(path), random.uuid()))
}

const MAKE_FOLDER_ATTEMPTS = 3

async function createWithFolder(fs: FileSystem, path: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fs.createFile(path, bytes, { sync })
    } catch (error) {
      // Expiry may remove an empty folder between the two calls: then it is made again.
      if (fileErrorCode(error) !== 'ENOENT' || attempt === MAKE_FOLDER_ATTEMPTS) throw error
      await fs.makeDirectory(posix.dirname(path))
    }
  }
}

async function linkOnce(fs: FileSystem, temporary: string, path: string): Promise<'published' | 'taken'> {
  try {
    await fs.link(temporary, path)
    return 'published'
  } catch (error) {
    const code = fileErrorCode(error)
    if (code === 'EEXIST') return 'taken'
    if (code !== undefined && noHardLinks.has(code)) {
      throw new TableError(
        'UNSUPPORTED',
        `The file system of ${path} has no hard links (${code}), so two writers could overwrite each other. Put the warehouse on a local disk.`,
        { path, errno: code },
        error,
      )
    }
    throw toTableError(error, path, { outcome: 'unknown' })
  }
}

/** What `link` answers where hard links do not exist: FAT and some network and user-space file systems. */
const noHardLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
