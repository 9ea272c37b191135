import { posix } from 'node:path'
import { branchFolder, bucketFolder as bucketFolderName } from '../../formats/meta/names.ts'
import type { DataFile, IndexEntry } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'

/** The main line of a table; other branches have names of their own. */
export const MAIN_BRANCH = 'main'

/**
 * Where the files of one branch of a table lie. Snapshots, schemas, tags, consumers and long-lived changelogs belong to the
 * branch; manifests, index and statistics files are shared by all of them, under unique names.
 *
 *   <table>/snapshot/…  schema/…  tag/…  consumer/…  changelog/…        branch main
 *   <table>/branch/branch-<name>/snapshot/…                             another branch
 *   <table>/manifest/…  index/…  statistics/…                           all branches
 */
export interface TablePaths {
  /** Absolute path of the table's folder. */
  readonly table: string
  readonly branch: string
  readonly snapshots: string
  readonly schemas: string
  readonly tags: string
  readonly consumers: string
  readonly changelogs: string
  readonly branches: string
  readonly manifests: string
  readonly indexes: string
  readonly statistics: string
}

/** The folders of a branch; `table` is absolute. */
export function tablePaths(table: string, branch: string = MAIN_BRANCH): TablePaths {
  const meta = branch === MAIN_BRANCH ? table : posix.join(table, 'branch', branchFolder(branch))
  return {
    table,
    branch,
    snapshots: posix.join(meta, 'snapshot'),
    schemas: posix.join(meta, 'schema'),
    tags: posix.join(meta, 'tag'),
    consumers: posix.join(meta, 'consumer'),
    changelogs: posix.join(meta, 'changelog'),
    branches: posix.join(table, 'branch'),
    manifests: posix.join(table, 'manifest'),
    indexes: posix.join(table, 'index'),
    statistics: posix.join(table, 'statistics'),
  }
}

/** Where data files lie: the folder of a bucket follows from its partition and number. */
export interface DataPaths {
  /** Absolute folder of a bucket's data files. */
  bucketFolder(partition: Uint8Array, bucket: number): string
  dataFile(partition: Uint8Array, bucket: number, file: DataFile): string
  /** The data file, then its extra files (file indexes), which lie beside it. */
  filesOf(partition: Uint8Array, bucket: number, file: DataFile): readonly string[]
  indexFile(entry: IndexEntry): string
}

/** Folder of the index files of a bucket: with `index-file-in-data-file-dir` its own, else that of the table. */
export function indexFolder(
  ofTable: string,
  ofBucket: string,
  { options }: { readonly options: Readonly<Record<string, string>> },
): string {
  return options['index-file-in-data-file-dir'] === 'true' ? ofBucket : ofTable
}

/**
 * Paths of data and index files of a table. `partitionFolder` gives the folder of a serialised partition, relative and
 * without slashes at its ends, empty for a table without partition keys.
 */
export function dataPaths(
  paths: TablePaths,
  partitionFolder: (partition: Uint8Array) => string,
  schema: { readonly options: Readonly<Record<string, string>> },
): DataPaths {
  const bucketFolder = (partition: Uint8Array, bucket: number) =>
    posix.join(paths.table, partitionFolder(partition), bucketFolderName(bucket))
  const dataFile = (partition: Uint8Array, bucket: number, file: DataFile) =>
    posix.join(bucketFolder(partition, bucket), inside(file.name, file.externalPath))
  return {
    bucketFolder,
    dataFile,
    filesOf: (partition, bucket, file) => {
      const path = dataFile(partition, bucket, file)
      return [path, ...file.extraFiles.map((name) => posix.join(posix.dirname(path), inside(name, null)))]
    },
    indexFile: (entry) => {
      const folder = indexFolder(paths.indexes, bucketFolder(entry.partition, entry.bucket), schema)
      return posix.join(folder, inside(entry.name, entry.externalPath))
    },
  }
}

/**
 * A file name out of a manifest, fit to be joined to a folder: a damaged or hostile manifest must not lead out of the table,
 * and files elsewhere are not supported.
 */
export function inside(name: string, externalPath: string | null): string {
  if (externalPath !== null) {
    throw new TableError(
      'UNSUPPORTED',
      `File ${name} lies outside the table, at ${externalPath}. External paths are not supported: rewrite the table with them off.`,
      { path: externalPath },
    )
  }
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw new TableError(
      'CORRUPT',
      `${JSON.stringify(name)} is no file name, but a manifest holds it. Restore the manifest.`,
      {
        value: name,
      },
    )
  }
  return name
}
