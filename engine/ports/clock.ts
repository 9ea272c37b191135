/** Wall clock and timers. */
export interface Clock {
  /** Epoch ms. */
  now(): number
  /** Minutes to add to UTC for local time at this moment (Java writes file creation times as local wall clock). */
  offsetMinutes(epochMillis: number): number
  /** Resolves after `millis`; rejects with the signal's reason when aborted. Does not keep the process alive unless `ref`. */
  sleep(millis: number, options?: { readonly signal?: AbortSignal | undefined; readonly ref?: boolean }): Promise<void>
}
