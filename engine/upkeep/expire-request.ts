import { TableError } from '../errors.ts'
import { checkCall, shown } from '../options/check-call.ts'
import { registry } from '../options/registry.ts'
import { canonicalTexts, type ResolvedOptions, type StoredOptions } from '../options/resolve.ts'

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
}

/** What a caller asks for instead of the table's own options. */
export interface ExpireOverrides {
  readonly retainMax?: number | undefined
  readonly retainMin?: number | undefined
  /** Epoch ms: snapshots older than this may go. */
  readonly olderThan?: number | undefined
  readonly dryRun?: boolean | undefined
}

const DECOUPLED = ['changelog.num-retained.max', 'changelog.num-retained.min', 'changelog.time-retained'] as const

/**
 * The request that a table's options make, with a caller's wishes on top. A wish for fewer snapshots than
 * `snapshot.num-retained.min` lowers that as well; the limit of one run holds only when there is no wish at all, as after
 * a commit. `INVALID` for a wish that cannot be; `UNSUPPORTED` when changelogs are to outlive their snapshots.
 */
export function expireRequest(
  stored: StoredOptions,
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
  const request: ExpireRequest = {
    retainMin: min,
    retainMax: max,
    olderThan: olderThan ?? nowMillis - options['snapshot.time-retained'],
    limit: own ? options['snapshot.expire.limit'] : Number.MAX_SAFE_INTEGER,
    cleanEmptyDirectories: options['snapshot.clean-empty-directories'],
    dryRun: dryRun ?? false,
  }
  checkChangelogs(stored, request, nowMillis)
  return request
}

function checkCount(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return
  throw new TableError('INVALID', `${name} is ${shown(value)}: give a whole number from 1 on.`, { value })
}

/**
 * With a changelog retention beyond that of snapshots, expiry has to turn snapshots into long-lived changelogs instead of
 * dropping them. Doing half of it would lose changes that somebody asked to keep.
 */
function checkChangelogs(stored: StoredOptions, request: ExpireRequest, nowMillis: number): void {
  const texts = canonicalTexts(stored)
  const limits = {
    'changelog.num-retained.max': request.retainMax,
    'changelog.num-retained.min': request.retainMin,
    'changelog.time-retained': nowMillis - request.olderThan,
  }
  for (const option of DECOUPLED) {
    const text = texts.get(option)
    const value = text === undefined ? undefined : registry[option].kind.parse(text)
    if (value === undefined || value <= limits[option]) continue
    throw new TableError(
      'UNSUPPORTED',
      `Option ${option} = ${text} keeps changelogs longer than their snapshots, which this version cannot do. Lower it, or let another engine expire snapshots.`,
      { option, value: text },
    )
  }
}
