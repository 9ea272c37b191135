/**
 * The names of a table's files and folders, printed and parsed (docs/format/names.md). Parsers are strict: what is not
 * exactly a name that this module prints is undefined, so left-over and foreign files (`snapshot-2.bak`, `snapshot-007`,
 * `.snapshot-2.<uuid>.tmp`) are passed over. They see names only: the caller leaves out directories.
 */

/** The bucket of tables whose rows wait for a bucket (`bucket=-2`). */
const POSTPONE_BUCKET = -2

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const NUMBER = '0|[1-9][0-9]{0,15}'
const MAX_INT = 2 ** 31 - 1

const metadataPattern = new RegExp(`^(manifest|manifest-list|index-manifest|index|stat)-(${UUID})-(${NUMBER})$`)
const dataPattern = new RegExp(`^(.*?)(${UUID})-(${NUMBER})\\.([^/]+)$`)
const temporaryPattern = new RegExp(`^\\.(.+)\\.(${UUID})\\.tmp$`)
const bucketPattern = new RegExp(`^bucket-(${NUMBER}|postpone)$`)

/** Suffixes of compressed text files: the format is what stands before them. */
const compressionSuffixes: ReadonlySet<string> = new Set(['gz', 'bz2', 'deflate', 'snappy', 'lz4', 'zst'])

// Files with an id

/** `snapshot-7`; ids start at 1. */
export function snapshotName(id: number): string {
  return `snapshot-${id}`
}

export function parseSnapshotName(name: string): number | undefined {
  return numberAfter('snapshot-', name, 1)
}

/** `changelog-7`: what remains of a snapshot whose changelog outlives it; same id. */
export function changelogName(id: number): string {
  return `changelog-${id}`
}

export function parseChangelogName(name: string): number | undefined {
  return numberAfter('changelog-', name, 1)
}

/** `schema-0`; ids start at 0. */
export function schemaName(id: number): string {
  return `schema-${id}`
}

export function parseSchemaName(name: string): number | undefined {
  return numberAfter('schema-', name, 0)
}

// Files and folders named by people. Which names are allowed is a rule of the engine: here any text without `/` is.

export function tagName(tag: string): string {
  return `tag-${tag}`
}

export function parseTagName(name: string): string | undefined {
  return textAfter('tag-', name)
}

export function branchFolder(branch: string): string {
  return `branch-${branch}`
}

export function parseBranchFolder(name: string): string | undefined {
  return textAfter('branch-', name)
}

export function consumerName(consumer: string): string {
  return `consumer-${consumer}`
}

export function parseConsumerName(name: string): string | undefined {
  return textAfter('consumer-', name)
}

// Files with a uuid: one a commit or a writer, which counts its files from 0

export type MetadataKind = 'manifest' | 'manifest-list' | 'index-manifest' | 'index' | 'stat'

export interface MetadataName {
  readonly kind: MetadataKind
  readonly uuid: string
  readonly counter: number
}

/** A file in `manifest/`, `index/` (`index`) or `statistics/` (`stat`): `manifest-list-<uuid>-0`. */
export function metadataName(kind: MetadataKind, uuid: string, counter: number): string {
  return `${kind}-${uuid}-${counter}`
}

export function parseMetadataName(name: string): MetadataName | undefined {
  const [, kind, uuid, digits] = metadataPattern.exec(name) ?? []
  const counter = toNumber(digits)
  if (kind === undefined || uuid === undefined || counter === undefined) return undefined
  return { kind: kind as MetadataKind, uuid, counter }
}

export interface DataFileName {
  /** `data-`, `changelog-`, or what the options of the table say. */
  readonly prefix: string
  readonly uuid: string
  readonly counter: number
  readonly format: string
}

/** A data or changelog file in a bucket folder: `data-<uuid>-0.parquet`. The dash belongs to the prefix. */
export function dataFileName(prefix: string, uuid: string, counter: number, format: string): string {
  return `${prefix}${uuid}-${counter}.${format}`
}

/** Undefined also for the file indexes beside data files (`….parquet.index`). */
export function parseDataFileName(name: string): DataFileName | undefined {
  const [, prefix, uuid, digits, suffix] = dataPattern.exec(name) ?? []
  const counter = toNumber(digits)
  if (prefix === undefined || uuid === undefined || counter === undefined || suffix === undefined) return undefined
  const format = dataFileFormat(name)
  return format === undefined || format === 'index' ? undefined : { prefix, uuid, counter, format }
}

/**
 * The file format that a data file's name says: the text after the last dot, or before a compression suffix
 * (`data-….csv.gz` is csv). In lower case; undefined without a dot.
 */
export function dataFileFormat(name: string): string | undefined {
  const parts = name.toLowerCase().split('.').slice(1)
  const last = parts.pop()
  if (last === undefined || last === '') return undefined
  return compressionSuffixes.has(last) && parts.length > 0 ? parts.pop() : last
}

/** The file index kept beside a data file. */
export function fileIndexName(dataFile: string): string {
  return `${dataFile}.index`
}

// Folders and temporary files

/** `bucket-3`; `bucket-postpone` for rows that wait for a bucket. */
export function bucketFolder(bucket: number): string {
  return bucket === POSTPONE_BUCKET ? 'bucket-postpone' : `bucket-${bucket}`
}

export function parseBucketFolder(name: string): number | undefined {
  const [, text] = bucketPattern.exec(name) ?? []
  if (text === 'postpone') return POSTPONE_BUCKET
  const bucket = toNumber(text)
  return bucket !== undefined && bucket <= MAX_INT ? bucket : undefined
}

/** The file that becomes `target` by a link or a rename: `.snapshot-7.<uuid>.tmp`, in the same folder. */
export function temporaryName(target: string, uuid: string): string {
  return `.${target}.${uuid}.tmp`
}

export function parseTemporaryName(name: string): { readonly target: string; readonly uuid: string } | undefined {
  const [, target, uuid] = temporaryPattern.exec(name) ?? []
  return target === undefined || uuid === undefined ? undefined : { target, uuid }
}

const numberPattern = new RegExp(`^(?:${NUMBER})$`)

function numberAfter(prefix: string, name: string, least: number): number | undefined {
  if (!name.startsWith(prefix)) return undefined
  const digits = name.slice(prefix.length)
  const id = numberPattern.test(digits) ? toNumber(digits) : undefined
  return id !== undefined && id >= least ? id : undefined
}

function toNumber(digits: string | undefined): number | undefined {
  const number = digits === undefined ? Number.NaN : Number(digits)
  return Number.isSafeInteger(number) ? number : undefined
}

function textAfter(prefix: string, name: string): string | undefined {
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : undefined
}
