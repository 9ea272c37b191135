import type { DataFile } from '../../formats/meta/types.ts'
import type { VectorFile } from './vectors.ts'

/** Orders two serialised BinaryRow keys (as in `DataFile.minKey`): negative, zero, positive. */
export type KeyCompare = (a: Uint8Array, b: Uint8Array) => number

/** Disjoint files in ascending key order. A level-0 run is one file. */
export interface SortedRun {
  readonly level: number
  readonly files: readonly DataFile[]
  readonly bytes: number
}

/**
 * Runs whose key ranges touch. A run of a section may hold files of several levels; `level` is then the highest of them.
 * `sections.ts` puts older runs first as far as levels and sequence numbers tell, but readers must order by sequence.
 */
export type Section = readonly SortedRun[]

/** `rewrite-files`: all lies at the highest level already, and single files are written again one by one. */
export type PickReason =
  | 'early-full'
  | 'amplification'
  | 'ratio'
  | 'count'
  | 'forced-level-0'
  | 'full'
  | 'rewrite-files'
  | 'deletes-go-down'

/** What one compaction takes: a prefix of the runs, newest first. */
export interface Pick {
  readonly outputLevel: number
  readonly runCount: number
  readonly files: readonly DataFile[]
  readonly reason: PickReason
}

/**
 * Rewrite merges all sections into new files at the output level. Upgrade changes a file's level and nothing else; with `changelog`
 * the file is read, because moving it changes rows.
 */
export type Step =
  | { readonly kind: 'rewrite'; readonly sections: readonly Section[] }
  | { readonly kind: 'upgrade'; readonly file: DataFile; readonly changelog?: true }

/** What one commit adds to and takes from a bucket. Order inside each list is the order in the manifest. */
export interface Increment {
  readonly partition: Uint8Array
  readonly bucket: number
  readonly totalBuckets: number
  /** New level-0 files: the APPEND snapshot. */
  readonly added: readonly DataFile[]
  /** Compaction: the COMPACT snapshot. */
  readonly compactBefore: readonly DataFile[]
  readonly compactAfter: readonly DataFile[]
  /** Changelog files of either. */
  readonly changelog: readonly DataFile[]
  /** The vectors of the bucket after the compaction, where it changed some; null = none are left. */
  readonly vectors?: VectorFile | null | undefined
}
