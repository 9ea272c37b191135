import type { Kind } from './kinds.ts'

/**
 * What an option bears on: `read` = it can change what a read answers (and so what may be written), `write` = only what is
 * written, `none` = neither the rows nor the files of this version.
 */
type Affects = 'read' | 'write' | 'none'

interface OptionBase {
  /** One sentence for the option reference. */
  readonly text: string
  readonly affects: Affects
  /** Older keys with the same meaning; the key itself wins. */
  readonly aliases?: readonly string[]
  /** Paimon refuses to change it once a table holds data. */
  readonly immutable?: true
}

/** The engine obeys it. `accepts` narrows that to some values: others are refused, as with `Refused`. */
export interface Used<T, D extends T | undefined = T | undefined> extends OptionBase {
  readonly use: 'used'
  readonly kind: Kind<T>
  readonly default: D
  accepts?(value: T): boolean
  /** The accepted values in words; goes with `accepts`. */
  readonly only?: string
}

/**
 * Obeying it is beyond this version: a table that sets another value than the accepted ones is not read, or is read and not
 * written, as `affects` says.
 */
export interface Refused<T> extends OptionBase {
  readonly use: 'refused'
  readonly kind: Kind<T>
  readonly default: T | undefined
  /** Absent: the option must not be set at all. */
  accepts?(value: T): boolean
  readonly only: string
}

/** Stored and handed on, never looked at: `why` says what makes that right. */
export interface Kept<T> extends OptionBase {
  readonly use: 'kept'
  readonly kind: Kind<T>
  readonly default: T | undefined
  readonly why: string
}

export type Option = Used<unknown> | Refused<unknown> | Kept<unknown>

type Extra = Partial<Pick<OptionBase, 'aliases' | 'immutable'>>

/** An option that the engine obeys, with a default. */
export function used<T>(
  affects: 'read' | 'write',
  kind: Kind<T>,
  fallback: T,
  text: string,
  extra: Extra & Pick<Used<T>, 'accepts' | 'only'> = {},
): Used<T, T> {
  return { use: 'used', affects, kind, default: fallback, text, ...extra }
}

/** An option that the engine obeys; unset has a meaning of its own, or a default that depends on other options. */
export function optional<T>(
  affects: 'read' | 'write',
  kind: Kind<T>,
  text: string,
  extra: Extra = {},
): Used<T, undefined> {
  return { use: 'used', affects, kind, default: undefined, text, ...extra }
}

/** An option of which this version can do some values only. */
export function only<T>(
  affects: 'read' | 'write',
  kind: Kind<T>,
  accepted: readonly T[],
  text: string,
  extra: Extra = {},
): Refused<T> {
  return {
    use: 'refused',
    affects,
    kind,
    default: accepted[0],
    accepts: (value) => accepted.includes(value),
    only: accepted.map(kind.print).join(' or '),
    text,
    ...extra,
  }
}

/** An option that this version cannot do with any value. */
export function unset<T>(affects: 'read' | 'write', kind: Kind<T>, text: string, extra: Extra = {}): Refused<T> {
  return { use: 'refused', affects, kind, default: undefined, only: 'unset', text, ...extra }
}

/** An option that changes nothing here. */
export function kept<T>(kind: Kind<T>, fallback: T | undefined, text: string, why: string, extra: Extra = {}): Kept<T> {
  return { use: 'kept', affects: 'none', kind, default: fallback, text, why, ...extra }
}
