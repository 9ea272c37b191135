/** Why bytes could not be turned into values: damage, or a feature that this version does not read. */
export type FormatErrorCode = 'CORRUPT' | 'UNSUPPORTED'

/**
 * Thrown by every decoder. It knows the offset and what was wrong, not the file: whoever opened the file adds its path and
 * throws a `TableError` with the same code.
 */
export class FormatError extends Error {
  readonly code: FormatErrorCode
  constructor(code: FormatErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FormatError'
    this.code = code
  }
}

/** A `FormatError` for bytes that cannot be right. */
export function corrupt(message: string, cause?: unknown): FormatError {
  return new FormatError('CORRUPT', message, cause === undefined ? undefined : { cause })
}

/** A `FormatError` for bytes that are fine but need a feature this version lacks. */
export function unsupported(message: string): FormatError {
  return new FormatError('UNSUPPORTED', message)
}
