import { posix } from 'node:path'
import { parseSchemaName } from '../../formats/meta/names.ts'
import { TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'
import { isAbsent } from '../ports/file-error.ts'
import type { FileSystem } from '../ports/file-system.ts'
import type { Random } from '../ports/random.ts'
import { ifPresent, isMissing, withPath } from './errors.ts'
import { listIfPresent } from './listing.ts'
import { checkName } from './name-rules.ts'

const DATABASE_SUFFIX = '.db'
/** A name in a folder has at most 255 bytes on every file system of interest. */
const NAME_BYTES = 255

/** A table's two names. */
export interface TableName {
  readonly database: string
  readonly table: string
}

/** Splits `database.table`. `INVALID` when a part is empty, too long, or could not be a folder of its own. */
export function parseTableName(text: string): TableName {
  if (typeof text !== 'string') {
    throw new TableError('INVALID', `${shown(text)} is no table name: write it as database.table, with one dot.`, {
      value: text,
    })
  }
  const [database, table, ...more] = text.split('.')
  if (database === undefined || table === undefined || more.length > 0) {
    throw new TableError('INVALID', `"${text}" is no table name: write it as database.table, with one dot.`, {
      value: text,
    })
  }
  checkName('database', database, { maxBytes: NAME_BYTES - DATABASE_SUFFIX.length, forbidden: '$' })
  checkName('table', table, { maxBytes: NAME_BYTES, forbidden: '$' })
  return { database, table }
}

/** `<warehouse>/<database>.db/<table>`. */
export function tableFolder(warehouse: string, { database, table }: TableName): string {
  return posix.join(databaseFolder(warehouse, database), table)
}

/** `<warehouse>/<database>.db`; nothing else makes a database. */
function databaseFolder(warehouse: string, database: string): string {
  return posix.join(warehouse, database + DATABASE_SUFFIX)
}

/** Makes the folder of a database, and the warehouse's, durable; fine when present. */
export async function createDatabase(fs: FileSystem, warehouse: string, database: string): Promise<void> {
  const folder = databaseFolder(warehouse, database)
  await withPath(folder, () => fs.makeDirectory(folder))
}

/** Whether a folder holds a table: a `schema` folder with at least one schema file. */
export async function tableExists(fs: FileSystem, folder: string): Promise<boolean> {
  const entries = await listIfPresent(fs, posix.join(folder, 'schema'))
  return entries.some(({ name, kind }) => kind === 'file' && parseSchemaName(name) !== undefined)
}

/** The folder with symbolic links resolved; undefined when there is none. */
export async function realPathIfThere(fs: FileSystem, folder: string): Promise<string | undefined> {
  return withPath(folder, async () => {
    try {
      return await fs.realPath(folder)
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    }
  })
}

/** Every table of a warehouse, by database and name. An absent warehouse has none. */
export async function listTables(fs: FileSystem, warehouse: string): Promise<readonly TableName[]> {
  const tables: TableName[] = []
  for (const { name: folder, kind } of await listIfPresent(fs, warehouse)) {
    if (kind === 'file' || !folder.endsWith(DATABASE_SUFFIX)) continue
    const database = folder.slice(0, -DATABASE_SUFFIX.length)
    for (const { name: table, kind } of await listIfPresent(fs, posix.join(warehouse, folder))) {
      // A name with a dot could not be said as database.table; dropped tables on their way out have one in front.
      if (kind === 'file' || table.includes('.') || database.includes('.')) continue
      if (await tableExists(fs, posix.join(warehouse, folder, table))) tables.push({ database, table })
    }
  }
  return tables.sort((a, b) => compare(a.database, b.database) || compare(a.table, b.table))
}

/**
 * Removes a table with all its files. The first step takes the name away at once and for good; a crash after it leaves a
 * hidden folder, `.dropped-<uuid>`, without a schema, which no engine takes for a table. `NOT_FOUND` when absent.
 */
export async function dropTable(fs: FileSystem, random: Random, folder: string): Promise<void> {
  const parent = posix.dirname(folder)
  const hidden = posix.join(parent, `.dropped-${random.uuid()}`)
  await withPath(folder, async () => {
    try {
      await fs.rename(folder, hidden)
    } catch (error) {
      if (!isMissing(error)) throw error
      throw new TableError('NOT_FOUND', `There is no table in ${folder}: check the name.`, { path: folder }, error)
    }
    await fs.syncDirectory(parent)
  })
  await withPath(hidden, async () => {
    await removeTree(fs, posix.join(hidden, 'schema'))
    await removeTree(fs, hidden)
  })
}

/**
 * Removes what is left of tables whose drop broke off, as `dropTable` names it; gives the paths of the files. Such a folder is nobody's,
 * however young: another process that is at work on it finds less to do.
 */
export async function removeDropped(fs: FileSystem, warehouse: string, dryRun: boolean): Promise<readonly string[]> {
  const files: string[] = []
  for (const { name: database, kind } of await listIfPresent(fs, warehouse)) {
    if (kind === 'file' || !database.endsWith(DATABASE_SUFFIX)) continue
    for (const { name, kind } of await listIfPresent(fs, posix.join(warehouse, database))) {
      if (kind !== 'directory' || !droppedPattern.test(name)) continue
      const folder = posix.join(warehouse, database, name)
      files.push(...(await withPath(folder, () => filesBelow(fs, folder))))
      if (!dryRun) await withPath(folder, () => removeTree(fs, folder))
    }
  }
  return files.sort()
}

const droppedPattern = /^\.dropped-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function filesBelow(fs: FileSystem, folder: string): Promise<readonly string[]> {
  const files: string[] = []
  for (const { name, kind } of await listIfPresent(fs, folder)) {
    const path = posix.join(folder, name)
    if (kind === 'directory') files.push(...(await filesBelow(fs, path)))
    else files.push(path)
  }
  return files
}

/** Two that remove the same tree take turns. */
async function removeTree(fs: FileSystem, folder: string): Promise<void> {
  for (const { name, kind } of await listIfPresent(fs, folder)) {
    const path = posix.join(folder, name)
    if (kind === 'directory') await removeTree(fs, path)
    else await ifPresent(() => fs.unlink(path))
  }
  await ifPresent(() => fs.removeDirectory(folder))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
