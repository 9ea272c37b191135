import { ValueError } from '../../formats/column/value-error.ts'
import { TableError } from '../errors.ts'

/** What to do about a value, by what it was given for. */
const remedies = {
  write: 'Nothing was written: mend the value and call again.',
  key: 'Give the columns of the key with values of their types.',
  where: 'Compare the column with values of its type.',
  read: 'Open the table without this mode to read the column in its own form.',
} as const

/** A value that does not fit its column, as the error that callers see; other errors as they are. */
export function asTableError(error: unknown, purpose: keyof typeof remedies): unknown {
  if (!(error instanceof ValueError)) return error
  const { column, value, row, reason } = error
  return new TableError(
    'INVALID',
    `${error.message[0]!.toUpperCase()}${error.message.slice(1)}. ${remedies[purpose]}`,
    { column, value, reason, ...(row !== undefined && { row }) },
  )
}
