import type { Scalar } from './column.ts'

/**
 * A condition over flat columns, plain and serialisable. SQL nulls: a comparison with null is unknown, `not` keeps unknown,
 * and a row passes only when the whole is true. `in` lists hold no nulls.
 */
export type Predicate =
  | { readonly op: 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'; readonly column: string; readonly value: Scalar }
  | { readonly op: 'in'; readonly column: string; readonly values: readonly Scalar[] }
  | { readonly op: 'isNull' | 'isNotNull'; readonly column: string }
  | { readonly op: 'and' | 'or'; readonly children: readonly Predicate[] }
  | { readonly op: 'not'; readonly child: Predicate }

/** What is known of the values of one column in a file, a row group, or a page. Null bounds are unknown bounds. */
export interface ColumnBounds {
  readonly min: Scalar | null
  readonly max: Scalar | null
  readonly nullCount: number | null
  readonly rows: number
  /** Set for FLOAT and DOUBLE: NaN, which is above every other number, may be present and missing in the bounds. */
  readonly mayHoldNaN?: boolean
}
