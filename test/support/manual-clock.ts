import type { Clock } from '../../engine/ports/clock.ts'

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  advance(millis: number): void
  set(epochMillis: number): void
}

/** Starts at `epochMillis`; a sleep ends when the clock has been moved past its end. */
export function manualClock(epochMillis = 1_700_000_000_000, offsetMinutes = 0): ManualClock {
  let now = epochMillis
  let sleepers: { readonly until: number; readonly wake: () => void }[] = []
  const set = (millis: number) => {
    now = millis
    const due = sleepers.filter(({ until }) => until <= now).sort((a, b) => a.until - b.until)
    sleepers = sleepers.filter(({ until }) => until > now)
    for (const { wake } of due) wake()
  }
  return {
    now: () => now,
    offsetMinutes: () => offsetMinutes,
    set,
    advance: (millis) => set(now + millis),
    sleep: (millis, { signal } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason)
        const sleeper = { until: now + millis, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener(
          'abort',
          () => {
            sleepers = sleepers.filter((other) => other !== sleeper)
            reject(signal.reason)
          },
          { once: true },
        )
        if (millis <= 0) set(now)
      }),
  }
}
