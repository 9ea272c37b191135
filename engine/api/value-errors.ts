import { ValueError } from '../../formats/column/value-error.ts'
import { TableError } from '../errors.ts'

/** A value that does not fit its column, as the error that callers see; other errors as they are. */
export function asTableError(error: unknown): unknown {
  if (!(error instanceof ValueError)) return error
  const { column, value, row, reason } = error
  return new TableError(
    'INVALID',
    `${error.message[0]!.toUpperCase()}${error.message.slice(1)}. Nothing was written: mend the value and call again.`,
    { column, value, reason, ...(row !== undefined && { row }) },
    error,
  )
}
