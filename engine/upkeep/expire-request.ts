import { TableError } from '../errors.ts'
import { checkCall, shown } from '../options/check-call.ts'
import type { ResolvedOptions } from '../options/resolve.ts'

/** Which snapshots an expiry may drop, and how. */
export interface ExpireRequest {
  /** Never fewer than these are left; at least 1. */
  readonly retainMin: number
  /** Never more than these are left; at least `retainMin`. */
  readonly retainMax: number
  /** Between the two, snapshots from this time on stay; epoch ms. */
  readonly olderThan: number
  /** Snapshots dropped in one run at most. */
  readonly limit: number
  /** Remove bucket and partition folders that are left empty. */
  readonly cleanEmptyDirectories: boolean
  /** Remove nothing, say what would go. */
  readonly dryRun: boolean
  /** Which changelogs may be dropped that outlived their snapshots. */
  readonly changelogs: ChangelogRetention
  /** Marks of consumers that were written before are removed; epoch ms. Undefined = none. */
  readonly consumersOlderThan: number | undefined
  /** Consumers hold back snapshots, not only the changelogs that these leave behind. */
  readonly consumersKeepSnapshots: boolean
}

/** The same limits as those of snapshots, for changelogs. */
export interface ChangelogRetention extends Pick<ExpireRequest, 'retainMin' | 'retainMax' | 'olderThan'> {
  /** One of the limits goes further than that of snapshots: a snapshot that ends leaves its changelog behind. */
  readonly outlive: boolean
}

/** What a caller asks for instead of the table's own options. */
export interface ExpireOverrides {
  readonly retainMax?: number | undefined
  readonly retainMin?: number | undefined
  /** Epoch ms: snapshots older than this may go. */
  readonly olderThan?: number | undefined
  readonly dryRun?: boolean | undefined
}

/**
 * The request that a table's options make, with a caller's wishes on top. A wish for fewer snapshots than
 * `snapshot.num-retained.min` lowers that as well; the limit of one run holds only when there is no wish at all, as after
 * a commit. Limits of changelogs that are not set are those of snapshots. `INVALID` for a wish that cannot be.
 */
export function expireRequest(
  options: ResolvedOptions,
  nowMillis: number,
  overrides: ExpireOverrides = {},
): ExpireRequest {
  checkCall('expireSnapshots', overrides, { retainMax: 'any', retainMin: 'any', olderThan: 'any', dryRun: 'flag' })
  const { retainMax, retainMin, olderThan, dryRun } = overrides
  checkCount('retainMax', retainMax)
  checkCount('retainMin', retainMin)
  if (olderThan !== undefined && !Number.isFinite(olderThan)) {
    throw new TableError('INVALID', `olderThan is ${shown(olderThan)}: give a time in milliseconds since 1970.`, {
      value: olderThan,
    })
  }
  const max = retainMax ?? Math.max(options['snapshot.num-retained.max'], retainMin ?? 1)
  const min = retainMin ?? Math.min(options['snapshot.num-retained.min'], max)
  if (min > max) {
    throw new TableError('INVALID', `retainMin ${min} is above retainMax ${max}: lower it, or raise retainMax.`, {
      value: min,
    })
  }
  const own = retainMax === undefined && retainMin === undefined && olderThan === undefined
  const limits = {
    retainMin: min,
    retainMax: max,
    olderThan: olderThan ?? nowMillis - options['snapshot.time-retained'],
  }
  const changelogs = changelogRetention(options, limits, nowMillis)
  const life = options['consumer.expiration-time']
  return {
    ...limits,
    limit: own ? options['snapshot.expire.limit'] : Number.MAX_SAFE_INTEGER,
    cleanEmptyDirectories: options['snapshot.clean-empty-directories'],
    dryRun: dryRun ?? false,
    changelogs,
    consumersOlderThan: life === undefined ? undefined : nowMillis - life,
    consumersKeepSnapshots: !(options['consumer.changelog-only'] && changelogs.outlive),
  }
}

function checkCount(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return
  throw new TableError('INVALID', `${name} is ${shown(value)}: give a whole number from 1 on.`, { value })
}

function changelogRetention(
  options: ResolvedOptions,
  snapshots: Pick<ExpireRequest, 'retainMin' | 'retainMax' | 'olderThan'>,
  nowMillis: number,
): ChangelogRetention {
  const life = options['changelog.time-retained']
  const retainMin = options['changelog.num-retained.min'] ?? snapshots.retainMin
  const retainMax = Math.max(retainMin, options['changelog.num-retained.max'] ?? snapshots.retainMax)
  const olderThan = life === undefined ? snapshots.olderThan : nowMillis - life
  const outlive = retainMin > snapshots.retainMin || retainMax > snapshots.retainMax || olderThan < snapshots.olderThan
  return { retainMin, retainMax, olderThan, outlive }
}
