import { fileErrorCode } from '../ports/file-error.ts'
import type { DirectoryEntry, FileSystem } from '../ports/file-system.ts'
import { withPath } from './errors.ts'

/** Entries of a folder; none when it is absent. */
export async function listIfPresent(fs: FileSystem, folder: string): Promise<readonly DirectoryEntry[]> {
  return withPath(folder, async () => {
    try {
      return await fs.list(folder)
    } catch (error) {
      if (isAbsent(error)) return []
      throw error
    }
  })
}

/** Whether there is nothing under a path: it, or a folder on the way to it, is absent or a file. */
export function isAbsent(error: unknown): boolean {
  const code = fileErrorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** The numbers that `parse` finds in the names of a folder's files, ascending; other names, and folders, are not ours. */
export async function listNumbers(
  fs: FileSystem,
  folder: string,
  parse: (name: string) => number | undefined,
): Promise<readonly number[]> {
  const numbers: number[] = []
  for (const { name, kind } of await listIfPresent(fs, folder)) {
    const number = kind === 'directory' ? undefined : parse(name)
    if (number !== undefined) numbers.push(number)
  }
  return numbers.sort((a, b) => a - b)
}
