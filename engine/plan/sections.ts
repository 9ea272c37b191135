import type { DataFile } from '../../formats/meta/types.ts'
import type { KeyCompare, Section, SortedRun } from './types.ts'

/**
 * Splits files into sections whose key ranges do not touch; within one, files are packed into the fewest sorted runs.
 *
 *   a |-----|        c |---|      sections: [a, b] [c]
 *        b |----|                 runs:     2      1
 *
 * Sections come in key order. Ranges that share one key touch. Within a section, runs that lie higher or hold smaller
 * sequence numbers come first. O(n log n).
 */
export function partitionIntoSections(files: readonly DataFile[], compareKeys: KeyCompare): readonly Section[] {
  const sorted = [...files].sort((a, b) => compareKeys(a.minKey, b.minKey) || compareKeys(a.maxKey, b.maxKey))
  const sections: Section[] = []
  let section: DataFile[] = []
  let largest: Uint8Array | undefined
  for (const file of sorted) {
    if (largest !== undefined && compareKeys(file.minKey, largest) > 0) {
      sections.push(packRuns(section, compareKeys))
      section = []
      largest = undefined
    }
    section.push(file)
    if (largest === undefined || compareKeys(file.maxKey, largest) > 0) largest = file.maxKey
  }
  if (section.length > 0) sections.push(packRuns(section, compareKeys))
  return sections
}

/** All files of sections, in key order of the sections. */
export function filesOfSections(sections: readonly Section[]): readonly DataFile[] {
  return sections.flatMap((section) => section.flatMap((run) => run.files))
}

/**
 * Files sorted by min key go, one after the other, to the run that ends first; a new run opens only when even that one ends
 * too late. A new run so means that all others reach over this min key, hence the fewest runs.
 */
function packRuns(sorted: readonly DataFile[], compareKeys: KeyCompare): Section {
  const heap: DataFile[][] = []
  for (const file of sorted) {
    const first = heap.at(0)
    if (first !== undefined && compareKeys(file.minKey, lastKey(first)) > 0) {
      first.push(file)
      siftDown(heap, compareKeys)
    } else {
      heap.push([file])
      siftUp(heap, compareKeys)
    }
  }
  return heap.map(toRun).sort(olderFirst)
}

function lastKey(files: readonly DataFile[]): Uint8Array {
  return files[files.length - 1].maxKey
}

function siftUp(heap: DataFile[][], compareKeys: KeyCompare): void {
  let child = heap.length - 1
  while (child > 0) {
    const parent = (child - 1) >> 1
    if (compareKeys(lastKey(heap[parent]), lastKey(heap[child])) <= 0) return
    swap(heap, parent, child)
    child = parent
  }
}

function siftDown(heap: DataFile[][], compareKeys: KeyCompare): void {
  let parent = 0
  for (;;) {
    const left = 2 * parent + 1
    if (left >= heap.length) return
    const right = left + 1
    const rightEndsFirst = right < heap.length && compareKeys(lastKey(heap[right]), lastKey(heap[left])) < 0
    const child = rightEndsFirst ? right : left
    if (compareKeys(lastKey(heap[parent]), lastKey(heap[child])) <= 0) return
    swap(heap, parent, child)
    parent = child
  }
}

function swap(heap: DataFile[][], a: number, b: number): void {
  const held = heap[a]
  heap[a] = heap[b]
  heap[b] = held
}

function toRun(files: readonly DataFile[]): SortedRun {
  let level = 0
  let bytes = 0
  for (const file of files) {
    level = Math.max(level, file.level)
    bytes += file.bytes
  }
  return { level, files, bytes }
}

function olderFirst(a: SortedRun, b: SortedRun): number {
  if (a.level !== b.level) return b.level - a.level
  const left = maxSequence(a)
  const right = maxSequence(b)
  return left < right ? -1 : left > right ? 1 : 0
}

function maxSequence(run: SortedRun): bigint {
  let max = run.files[0].maxSequence
  for (const file of run.files) if (file.maxSequence > max) max = file.maxSequence
  return max
}
