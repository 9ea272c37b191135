import type { BucketLevels } from '../../engine/index.ts'
import { formatBar, formatBytes, formatCount, formatNumberOf } from './format.ts'
import type { Terminal } from './terminal.ts'

/**
 * The tree of each bucket as lines: a bar a level, on one scale for all buckets.
 *
 *   bucket 0  6 runs
 *     L0  █▎                       2 files     54,321 rows    552 kB
 *     L5  ███████████████████████  1 file     748,063 rows   10.9 MB
 */
export function drawLevels(buckets: readonly BucketLevels[], terminal: Pick<Terminal, 'width' | 'style'>): string[] {
  const all = buckets.flatMap(({ levels }) => levels)
  const largest = Math.max(1, ...all.map(({ bytes }) => bytes))
  const cells = all.map((level) => cellsOf(level))
  const widths = [0, 1, 2, 3].map((index) => Math.max(0, ...cells.map((texts) => texts[index]!.length)))
  const fixed = widths.reduce((sum, width) => sum + width + 2, 4)
  const barWidth = Math.max(0, Math.min(40, terminal.width - 1 - fixed))
  return buckets.flatMap((bucket) => [
    terminal.style('bold', `${titleOf(bucket)}  ${formatNumberOf(bucket.runs, 'run')}`),
    ...bucket.levels.map((level) => {
      const [name, ...figures] = cellsOf(level).map((text, index) =>
        index === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[index]!),
      )
      const bar = terminal.style('cyan', formatBar(level.bytes / largest, barWidth).padEnd(barWidth))
      return `  ${name}  ${bar}  ${figures.join('  ')}`
    }),
  ])
}

function titleOf({ partition, bucket }: BucketLevels): string {
  return `${partition === '' ? '' : `${partition}/`}bucket ${bucket}`
}

function cellsOf({ level, files, rows, bytes }: BucketLevels['levels'][number]): readonly string[] {
  return [`L${level}`, formatNumberOf(files, 'file'), `${formatCount(rows)} rows`, formatBytes(bytes)]
}
