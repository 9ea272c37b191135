import type { Codecs } from '../../formats/compress/codec.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { resolve } from '../options/resolve.ts'
import { partitionPaths } from '../plan/partition.ts'
import { Changelogs } from './changelogs.ts'
import { Indexes } from './indexes.ts'
import { ManifestWriter } from './manifest-writer.ts'
import { Manifests } from './manifests.ts'
import { type DataPaths, dataPaths, type TablePaths, tablePaths } from './paths.ts'
import type { Publisher } from './publish.ts'
import { Schemas } from './schemas.ts'
import { Snapshots } from './snapshots.ts'
import { Tags } from './tags.ts'

/** The files of one branch of a table, a reader for each kind. It takes no decisions and holds no state but caches. */
export interface TableStore extends Publisher {
  readonly codecs: Codecs
  readonly paths: TablePaths
  readonly snapshots: Snapshots
  readonly changelogs: Changelogs
  readonly schemas: Schemas
  readonly tags: Tags
  readonly manifests: Manifests
  readonly indexes: Indexes
}

/** Memory for parsed manifests when nobody says otherwise. */
const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024

/** Opens a branch of the table in an absolute folder. Reads nothing yet. */
export function openTableStore(
  publisher: Publisher,
  codecs: Codecs,
  table: string,
  options: { readonly branch?: string; readonly cacheBytes?: number } = {},
): TableStore {
  const paths = tablePaths(table, options.branch)
  const cacheBytes = options.cacheBytes ?? DEFAULT_CACHE_BYTES
  return {
    ...publisher,
    codecs,
    paths,
    snapshots: new Snapshots(publisher, paths.snapshots),
    changelogs: new Changelogs(publisher, paths.changelogs),
    schemas: new Schemas(publisher, paths.schemas),
    tags: new Tags(publisher, paths.tags),
    manifests: new Manifests(publisher.fs, paths.manifests, codecs, cacheBytes),
    indexes: new Indexes(publisher.fs, paths.manifests, codecs, cacheBytes / 4),
  }
}

/** The same table seen from another branch; manifests and their caches are shared. */
export function branchStore(store: TableStore, branch: string): TableStore {
  const paths = tablePaths(store.paths.table, branch)
  return {
    ...store,
    paths,
    snapshots: new Snapshots(store, paths.snapshots),
    changelogs: new Changelogs(store, paths.changelogs),
    schemas: new Schemas(store, paths.schemas),
    tags: new Tags(store, paths.tags),
  }
}

/** Where the data files of a table lie, as its schema and options say. Partition keys never change, so any schema does. */
export function dataPathsOf(paths: TablePaths, schema: TableSchema): DataPaths {
  const options = resolve(schema.options)
  const folderOf = partitionPaths(partitionFields(schema), {
    defaultName: options['partition.default-name'],
    legacyName: options['partition.legacy-name'],
  })
  return dataPaths(paths, folderOf, schema)
}

/** A writer for the manifests of one attempt to commit to a table. */
export function manifestWriter(store: TableStore, schema: TableSchema): ManifestWriter {
  const options = resolve(schema.options)
  return new ManifestWriter({
    fs: store.fs,
    random: store.random,
    codecs: store.codecs,
    folder: store.paths.manifests,
    partitionTypes: partitionFields(schema).map((field) => field.type),
    compression: options['manifest.compression'],
    targetBytes: options['manifest.target-file-size'],
  })
}

function partitionFields(schema: TableSchema): readonly Field[] {
  return schema.partitionKeys.map((name) => schema.fields.find((field) => field.name === name)!)
}
