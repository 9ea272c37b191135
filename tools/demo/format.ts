/** A count with thousands apart: `2,992,108`. */
export function formatCount(value: number | bigint): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

/** `1 file`, `2 files`. */
export function formatNumberOf(count: number, one: string): string {
  return `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

/** Bytes in powers of a thousand, three digits: `13.5 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes / 1000
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${UNITS[unit]}`
}

/** `0.4 s`, `12.3 s`, `2 min 5 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 99.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** A point of local time in microseconds as `2001-01-31 13:05`. */
export function formatMinute(micros: bigint): string {
  return new Date(Number(micros / 1000n)).toISOString().slice(0, 16).replace('T', ' ')
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar of `share` of `width` characters, to an eighth of one. A share above nothing shows at least a sliver. */
export function formatBar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8)
  const shown = share > 0 ? Math.max(1, eighths) : 0
  return '█'.repeat(shown >> 3) + EIGHTHS[shown & 7]
}
