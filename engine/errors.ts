/**
 * Closed list of error codes; each says what the caller can do. `docs/errors.md` has a heading for each, and a test compares
 * the two.
 */
export const errorCodes = {
  INVALID: 'The call or its input is wrong: mend it and call again.',
  NOT_FOUND: 'No such warehouse, table, snapshot or partition.',
  EXISTS: 'The name is taken.',
  CONFLICT: 'Another writer changed what this commit builds on: retry from fresh state.',
  CORRUPT: 'A file is damaged: restore it, or go back to a snapshot that does not name it.',
  UNSUPPORTED: 'The table or the file needs a feature that this version does not have.',
  IO: 'The file system refused: mend the cause and try again; nothing is lost.',
  OVERFLOW: 'The merged values of a key do not fit their column: bring them back into its range; nothing is lost.',
  EXPIRED: 'The snapshot has been expired.',
  LOCKED: 'Somebody has opened the warehouse with exclusive.',
  STALLED: 'A wait for compaction did not end in time.',
  ABORTED: 'The call was aborted by its signal or by close().',
  CLOSED: 'The handle is closed: open the table again.',
  POISONED: 'A write has an unknown outcome: reads go on, reopen to write.',
  INTERNAL: 'A bug in this library: please report it.',
} as const

export type ErrorCode = keyof typeof errorCodes

export interface ErrorDetails {
  readonly table?: string
  readonly path?: string
  readonly column?: string
  readonly option?: string
  readonly value?: unknown
  readonly [name: string]: unknown
}

/**
 * The only error class of this library. `message` names what is wrong and ends with the next step; `details` holds the same
 * names and values for programs. Aborted calls keep `name: 'AbortError'`.
 */
export class TableError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = code === 'ABORTED' ? 'AbortError' : 'TableError'
    this.code = code
    this.details = details
  }
}

/** Narrows an unknown error to a `TableError` with one of the codes, or with any. */
export function isTableError(error: unknown, ...codes: readonly ErrorCode[]): error is TableError {
  return error instanceof TableError && (codes.length === 0 || codes.includes(error.code))
}
