import type { CompactionWatch } from './compaction-watch.ts'
import type { Expected } from './expected.ts'
import { formatBytes, formatCount, formatSeconds } from './format.ts'
import type { LoadResult } from './load.ts'

export interface Figures {
  readonly first: LoadResult
  readonly second: LoadResult
  readonly watch: CompactionWatch
  readonly fullSeconds: number
  readonly scanSeconds: number
  readonly rows: number
  readonly sourceBytes: number
  readonly disk: { readonly files: number; readonly bytes: number }
  readonly expected: Expected
  /** Of this process, threads included. */
  readonly peakBytes: number
  readonly seconds: number
}

/** The run in figures, one `[what, value]` a line. */
export function figureLines(figures: Figures): readonly (readonly [string, string])[] {
  const { first, second, watch, disk, expected } = figures
  const rate = (rows: number, seconds: number) => `${formatCount(rows / seconds)} rows/s in ${formatSeconds(seconds)}`
  return [
    ['first wave', rate(first.rows, first.seconds)],
    ['second wave', rate(second.rows, second.seconds)],
    [
      'compactions',
      `${formatCount(watch.compactions)}: ${formatBytes(watch.inputBytes)} in, ${formatBytes(watch.outputBytes)} out, ${watch.upgradedFiles} files moved up, ${watch.stalls} stalls`,
    ],
    ['full compaction', formatSeconds(figures.fullSeconds)],
    ['scan of all rows', rate(figures.rows, figures.scanSeconds)],
    [
      'on disk',
      `${formatBytes(disk.bytes)} in ${formatCount(disk.files)} files; the source is ${formatBytes(figures.sourceBytes)}, in order of time`,
    ],
    ['peak memory', `${formatBytes(figures.peakBytes)}; independent computation ${formatBytes(expected.peakBytes)}`],
    ['total', formatSeconds(figures.seconds)],
  ]
}
