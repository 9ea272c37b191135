import type { RecordBatch } from 'apache-arrow'
import { fromArrow, toArrow } from '../../formats/column/arrow.ts'
import type { Batch, Scalar } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { rowsOf, type ValueForms } from '../../formats/column/values.ts'
import type { Snapshot } from '../../formats/meta/types.ts'
import { Keys, type Range } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { parseWhere, type Where } from '../api/where.ts'
import { TableError } from '../errors.ts'
import { fieldNamed } from '../plan/kv-layout.ts'
import type { Explanation } from '../plan/explain.ts'
import { buildLevels, type LevelSummary, levelSummary } from '../plan/levels.ts'
import { bucketsOf } from '../store/view.ts'
import type { ReadStats } from '../tasks/task.ts'
import type { ExpireOverrides } from '../upkeep/expire-request.ts'
import type { ExpireResult } from '../upkeep/expire.ts'
import { DELETE, INSERT } from '../write/buffer.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import type { WriteBatch } from '../write/writer.ts'
import { type AutoCommit, AutoCommitter } from './auto-commit.ts'
import type { TableCore } from './core.ts'
import { RowEncoder } from './encode.ts'
import type { TableEvents } from './events.ts'
import { PointReads, type PointRow } from './point-reads.ts'
import { type CapturedScan, captureScan, scanBatches, type ScanRequest } from './reads.ts'
import { ScanIterator } from './scan-iterator.ts'
import type { TableState } from './state.ts'

/** A commit that is durable and visible. */
export interface CommitResult {
  /** Id of the newest snapshot; undefined while the table has none. */
  readonly id: number | undefined
  /** False when there was nothing to commit, or the identifier had been committed before. */
  readonly created: boolean
  /** The snapshots this commit made, oldest first: an APPEND, and a COMPACT when compactions were part of it. */
  readonly snapshots: readonly SnapshotInfo[]
  readonly identifier: bigint
  /** Records and files that the commit added: one record a key and bucket, deletes included. */
  readonly records: number
  readonly files: number
}

export interface SnapshotInfo {
  readonly id: number
  readonly kind: Snapshot['commitKind']
  readonly schemaId: number
  readonly timeMillis: number
  readonly user: string
  readonly identifier: bigint
  /** Records in files, deletes and replaced versions included: not the number of rows. */
  readonly totalRecords: bigint
  readonly deltaRecords: bigint
  readonly properties: Readonly<Record<string, string>>
}

/** One bucket's tree. */
export interface BucketLevels {
  readonly partition: string
  readonly bucket: number
  /** Sorted runs: each level-0 file is one, each higher level that holds files is one. */
  readonly runs: number
  readonly levels: readonly LevelSummary[]
}

export interface ReadOptions<C extends string> {
  /** Columns of the result, in this order; all when left out. */
  readonly columns?: readonly C[]
  /** A snapshot to read instead of the newest state. It shows committed rows only. */
  readonly snapshot?: number
  readonly signal?: AbortSignal
}

export interface ScanOptions<Input, Key, C extends string> extends ReadOptions<C> {
  readonly range?: Range<Partial<KeyObjectOf<Key>> | Key>
  readonly where?: Where<Input>
  /** Rows at most, counted after merge, deletes and `where`. */
  readonly limit?: number
  /** `false` reads bucket by bucket instead of in one order by key. */
  readonly ordered?: boolean
  /** Not supported yet. */
  readonly reverse?: boolean
  /** Called with figures of each stretch read. */
  readonly onStats?: (stats: ReadStats) => void
}

type KeyObjectOf<Key> = Extract<Key, object>

export interface CompactOptions {
  /** All runs into the highest level; else what the picker asks for. */
  readonly full?: boolean
  /** Only buckets of this partition: its folder, as `levels()` shows it. */
  readonly partition?: string
  readonly bucket?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { readonly buckets: number; readonly done: number }) => void
}

export type Mutation<Input, Key> = { readonly put: Input | readonly Input[] } | { readonly delete: Key | readonly Key[] }

export interface HandleOptions {
  readonly readOnly: boolean
  readonly forms: ValueForms
  readonly autoCommit: AutoCommit | undefined
  readonly onClose: () => Promise<void>
}

/**
 * A handle of a primary-key table. Rows are visible to `get` and `scan` of the handle at once, to others and after a crash once
 * `commit` has resolved. All methods may be called at the same time.
 */
export class Table<Row = Record<string, unknown>, Input = Record<string, unknown>, Key = unknown> {
  readonly name: string
  readonly #core: TableCore
  readonly #state: TableState | undefined
  readonly #options: HandleOptions
  readonly #keys: Keys
  readonly #encoder: RowEncoder
  readonly #points: PointReads
  readonly #auto: AutoCommitter | undefined
  readonly #user: string
  readonly #scans = new Set<ScanIterator<unknown>>()
  #identifier = 0n
  #writes: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** Use `warehouse.table` or `warehouse.createTable`. */
  constructor(core: TableCore, state: TableState | undefined, options: HandleOptions) {
    this.name = core.name
    this.#core = core
    this.#state = state
    this.#options = options
    this.#keys = new Keys(core.schema, options.forms)
    this.#encoder = new RowEncoder(core.schema, options.forms, this.#keys)
    this.#points = new PointReads(core, this.#keys.fields)
    const prefix = core.options['commit.user-prefix']
    this.#user = (prefix === undefined ? '' : `${prefix}_`) + core.store.random.uuid()
    if (options.autoCommit !== undefined) {
      this.#auto = new AutoCommitter(
        options.autoCommit,
        core.services.clock,
        () => this.commit(),
        (error) => core.events.emit('failure', { during: 'commit', error }),
      )
    }
  }
