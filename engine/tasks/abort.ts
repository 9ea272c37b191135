import { setMaxListeners } from 'node:events'
import { TableError } from '../errors.ts'

/** `ABORTED` once the signal has fired; `what` says of what: "The write was aborted. Nothing of it was kept." */
export function checkAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw new TableError('ABORTED', what, {}, signal.reason)
}

/**
 * Waits for a promise, but no longer than the signal lets it: then it rejects with `ABORTED`. What the promise stands for goes
 * on; it must be safe to leave alone.
 */
export async function untilAborted<T>(wait: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  checkAborted(signal, what)
  if (signal === undefined) return wait
  let stop = () => {}
  const fired = new Promise<never>((_, reject) => {
    stop = () => reject(new TableError('ABORTED', what, {}, signal.reason))
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([wait, fired])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** One signal may stop work in many buckets at once: Node's warning of a leak, from ten listeners on, would be wrong. */
export function expectListeners(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}

/** Hands the abort of a caller's signal on to what was begun for it; the function returned ends that. */
export function forwardAbort(signal: AbortSignal | undefined, to: AbortController): () => void {
  if (signal === undefined) return () => undefined
  const forward = () => to.abort(signal.reason)
  if (signal.aborted) forward()
  expectListeners(signal)
  signal.addEventListener('abort', forward, { once: true })
  return () => signal.removeEventListener('abort', forward)
}

/** What a task that was aborted rejects with, wherever it ran. */
export function taskAborted(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The task was aborted. Nothing was changed.', {}, signal.reason)
}
