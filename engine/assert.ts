import { TableError } from './errors.ts'

/** Throws `INTERNAL` when a condition that the code guarantees does not hold. Messages of invariants start with their number. */
export function assert(condition: boolean, message: string, details: Record<string, unknown> = {}): asserts condition {
  if (!condition) throw new TableError('INTERNAL', `${message}. This is a bug: please report it.`, details)
}

/** Ends a `switch` over a union: the compiler proves that nothing reaches it. */
export function assertNever(value: never): never {
  throw new TableError('INTERNAL', `unexpected case ${JSON.stringify(value)}. This is a bug: please report it.`)
}
