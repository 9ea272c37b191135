/** An error as Node makes it: code, call and path as properties, and in the message. */
export function fileError(code: string, syscall: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path })
}

/** Throws when `[offset, offset + length)` is not inside a file of `bytes` bytes. */
export function checkRange(offset: number, length: number, bytes: number, path: string): void {
  if (offset < 0 || length < 0 || offset + length > bytes) {
    throw new RangeError(`bytes ${offset}..${offset + length} of ${path} were asked for, it has ${bytes}`)
  }
}

/** Code of a Node error, or undefined for anything else. */
export function fileErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Whether there is nothing under a path: it, or a folder on the way to it, is absent or a file. */
export function isAbsent(error: unknown): boolean {
  const code = fileErrorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}
