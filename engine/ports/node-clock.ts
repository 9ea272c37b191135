import type { Clock } from './clock.ts'

/** Lets waiting I/O, timers and callers have their turn. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The system clock and Node's timers. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  // `getTimezoneOffset` counts the other way round: minutes to add to local time for UTC. `|| 0` turns -0 into 0.
  offsetMinutes: (epochMillis) => -new Date(epochMillis).getTimezoneOffset() || 0,
  sleep: (millis, options = {}) =>
    new Promise((resolve, reject) => {
      const { signal, ref = false } = options
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, millis)
      if (!ref) timer.unref()
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}
