import { isAbsent } from '../ports/file-error.ts'
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
