import type { DataFile } from '../../formats/meta/types.ts'
import { partitionIntoSections } from './sections.ts'
import type { KeyCompare } from './types.ts'

/** Part of a bucket, in key order, that can be read without knowing where the parts in front of it ended. */
export interface Leg {
  readonly files: readonly DataFile[]
  /** Rows of the only file that belong to the leg; undefined = all rows of all files. */
  readonly rows: { readonly start: number; readonly end: number } | undefined
}

/** Rows of a leg: the first is short, so that the first rows come soon; the pages at both ends of a leg are decoded twice. */
const FIRST_ROWS = 65_536
const MOST_ROWS = 262_144

/** Bytes of a data file that are read as one leg, where rows are wide. */
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Cuts a bucket into legs that threads may read side by side. Files that are alone over their keys are cut at rows, small ones go
 * together; what has to be merged stays one leg.
 */
export function cutIntoLegs(files: readonly DataFile[], compareKeys: KeyCompare): readonly Leg[] {
  const legs: Leg[] = []
  let small: DataFile[] = []
  let smallRows = 0
  const end = (): void => {
    if (small.length > 0) legs.push({ files: small, rows: undefined })
    small = []
    smallRows = 0
  }
  for (const section of partitionIntoSections(files, compareKeys)) {
    if (section.length > 1) {
      end()
      legs.push({ files: section.flatMap((run) => run.files), rows: undefined })
      continue
    }
    for (const file of section[0]!.files) {
      const widest = Math.max(1, Math.floor((MOST_BYTES / Math.max(1, file.bytes)) * file.rows))
      const room = (): number => Math.min(widest, MOST_ROWS, FIRST_ROWS * 2 ** legs.length)
      if (smallRows + file.rows > room()) end()
      let start = 0
      // A short rest is not worth a leg.
      while (file.rows - start > room() * 1.5) {
        const rows = { start, end: start + room() }
        legs.push({ files: [file], rows })
        start = rows.end
      }
      if (start > 0) legs.push({ files: [file], rows: { start, end: file.rows } })
      else {
        small.push(file)
        smallRows += file.rows
      }
    }
  }
  end()
  return legs
}
