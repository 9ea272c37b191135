import { type ErrorCode, TableError } from '../engine/errors.ts'

/** An error as it crosses from a thread: classes do not survive cloning. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Record<string, unknown>
  readonly stack: string | undefined
}

export type WireResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: WireError }

export function toWire(error: unknown): WireError {
  if (error instanceof TableError) {
    return { code: error.code, message: error.message, details: cloneable(error.details), stack: error.stack }
  }
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
  return { code: 'INTERNAL', message, details: {}, stack }
}

/** The `TableError` that was thrown on the thread, its stack as the cause. */
export function fromWire(wire: WireError): TableError {
  const cause = new Error(wire.message)
  if (wire.stack !== undefined) cause.stack = wire.stack
  return new TableError(wire.code, wire.message, wire.details, cause)
}

/** Details as text where they would not clone (functions, symbols). */
function cloneable(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'function' || typeof value === 'symbol' ? String(value) : value,
    ]),
  )
}
