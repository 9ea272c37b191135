import type { Field } from '../../../formats/types/row-type.ts'

/** The columns that an engine merges: key columns, sequence number, kind, then columns of the table. */
export interface MergeShape {
  readonly fields: readonly Field[]
  /** Position of `_VALUE_KIND`. */
  readonly kind: number
  /** Position of the first column of the table. */
  readonly firstValue: number
}
