import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../engine/ports/memory-fs.ts'

/** Folder of the golden fixtures. */
export const goldenFolder = fileURLToPath(new URL('../golden', import.meta.url))

/** Names of all golden tables. */
export const goldenCases: readonly string[] = readdirSync(join(goldenFolder, 'warehouse', 'golden.db')).sort()

/** Absolute folder of a golden table on disk; never write there. */
export function goldenTable(name: string): string {
  return join(goldenFolder, 'warehouse', 'golden.db', name)
}

/** One of the answers of Paimon about a table: a JSON value a line. */
export function goldenExpect<T>(name: string, file: string): T[] {
  return JSON.parse(readFileSync(join(goldenFolder, 'expect', name, `${file}.json`), 'utf8')) as T[]
}

/** A copy of a golden table in memory, in the folder `/warehouse/golden.db/<name>`. */
export function goldenInMemory(name: string): { readonly fs: MemoryFileSystem; readonly table: string } {
  const fs = createMemoryFileSystem()
  const table = `/warehouse/golden.db/${name}`
  for (const [path, bytes] of filesBelow(goldenTable(name))) fs.plant(`${table}/${path}`, bytes)
  return { fs, table }
}

function* filesBelow(folder: string, prefix = ''): Generator<[path: string, bytes: Uint8Array]> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = prefix + entry.name
    if (entry.isDirectory()) yield* filesBelow(join(folder, entry.name), `${path}/`)
    else yield [path, new Uint8Array(readFileSync(join(folder, entry.name)))]
  }
}
