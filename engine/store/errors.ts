import { FormatError } from '../../formats/bytes/format-error.ts'
import { type ErrorDetails, isTableError, TableError } from '../errors.ts'
import { fileErrorCode } from '../ports/file-error.ts'

/** What to do about an error of the file system, by its code. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free space and try again.',
  EDQUOT: 'The disk quota is used up: free space or raise it, and try again.',
  EMFILE: 'This process has too many open files: raise its limit (ulimit -n) and try again.',
  ENFILE: 'The system has too many open files: close some and try again.',
  EACCES: 'The permissions of the path forbid it: change them and try again.',
  EPERM: 'The system forbids it for this user: change owner or permissions and try again.',
  EROFS: 'The file system is read-only: open the warehouse with readOnly, or mount it for writing.',
  EIO: 'The disk reported an error: check it before writing again.',
  ENOTDIR: 'A part of the path is a file: check the path.',
  EISDIR: 'The path is a folder: check the path.',
  ENAMETOOLONG: 'The path is too long for the file system: use shorter names.',
  ENOTSUP: 'The system has no such call: leave out the option that needs it, or use another system.',
  ELOOP: 'The path has too many symbolic links: check the path.',
  EBUSY: 'Another program holds the file: try again.',
}

/**
 * The `TableError` for anything thrown while a named file was used: decoders' errors get the path, Node's errors a code
 * (`IO`) and a remedy, a missing file is `CORRUPT` with `missing: true` (somebody named it, so it should be there). What
 * is a `TableError` already passes through, with the path added when it has none; programming errors pass unchanged.
 */
export function toTableError(error: unknown, path: string, details: ErrorDetails = {}): Error {
  if (isTableError(error)) {
    if (error.details.path !== undefined) return error
    return new TableError(error.code, `${path}: ${error.message}`, { ...details, path, ...error.details }, error)
  }
  if (error instanceof FormatError) return formatError(error, path, details)
  const code = fileErrorCode(error)
  if (code === 'ENOENT') return missingFile(path, details, error)
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code))
    return fileSystemError(error as NodeJS.ErrnoException, code, path, details)
  // A range past the end of a file: its length differs from what other files say.
  if (error instanceof RangeError) return formatError(error, path, details)
  return error instanceof Error ? error : new Error(String(error))
}

/** Runs `use`, turning what it throws into a `TableError` that names `path`. */
export async function withPath<T>(path: string, use: () => Promise<T> | T): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw toTableError(error, path)
  }
}

/** `withPath` for the calls that block: data files. */
export function withPathSync<T>(path: string, use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw toTableError(error, path)
  }
}

/** What `read` gives; undefined when the file is not there. */
export async function ifPresent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Whether an error says that a file is not there, from Node or from `toTableError`. */
export function isMissing(error: unknown): boolean {
  return fileErrorCode(error) === 'ENOENT' || (isTableError(error) && error.details.missing === true)
}

function formatError(error: Error, path: string, details: ErrorDetails): TableError {
  const corrupt = !(error instanceof FormatError) || error.code === 'CORRUPT'
  const next = corrupt
    ? 'Restore the file from a copy, or go back to a snapshot that does not name it.'
    : 'Read the table with a version or an engine that has this feature.'
  return new TableError(
    corrupt ? 'CORRUPT' : 'UNSUPPORTED',
    `${path}: ${sentence(error.message)} ${next}`,
    { ...details, path },
    error,
  )
}

function missingFile(path: string, details: ErrorDetails, cause: unknown): TableError {
  return new TableError(
    'CORRUPT',
    `${path} is missing, but the table names it. Restore it from a copy, or go back to a snapshot that does not name it.`,
    { ...details, path, missing: true },
    cause,
  )
}

function fileSystemError(error: NodeJS.ErrnoException, code: string, path: string, details: ErrorDetails): TableError {
  const remedy = remedies[code] ?? 'Mend the cause and try again.'
  const call = error.syscall ?? 'use'
  return new TableError(
    'IO',
    `${call} ${path} failed with ${code}. ${remedy}`,
    { ...details, path, errno: code, syscall: call },
    error,
  )
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
