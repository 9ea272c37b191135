import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from './options.ts'

/** The folder of the warehouse: the one that was asked for, or a new one among the temporary files. */
export async function chooseFolder(dir: string | undefined): Promise<string> {
  if (dir === undefined) return mkdtemp(join(tmpdir(), 'lakelet-demo-'))
  const folder = resolve(dir)
  if ((await entriesOf(folder)).length > 0) throw new UsageError(`--dir ${dir}: the folder is not empty`)
  return folder
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
}

/** Files below a folder and their bytes. */
export async function measureFolder(folder: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  // Node 20.0 to 20.11 know the folder of an entry by its older name only.
  const sizes = await Promise.all(files.map(async ({ parentPath, path, name }) => stat(join(parentPath ?? path, name))))
  return { files: files.length, bytes: sizes.reduce((sum, { size }) => sum + size, 0) }
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
