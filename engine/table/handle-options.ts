import type { ValueForms } from '../../formats/column/values.ts'
import type { AutoCommit } from '../api/calls.ts'
import type { TableError } from '../errors.ts'

/** How one handle of a table was opened. */
export interface HandleOptions {
  readonly forms: ValueForms
  readonly autoCommit: AutoCommit | undefined
  /** Fixed user of commits; else each handle has a random one. */
  readonly commitUser: string | undefined
  /** Why the table can only be read, when it is not `readOnly` that says so. */
  readonly refusal: TableError | undefined
  readonly onClose: () => Promise<void>
}
