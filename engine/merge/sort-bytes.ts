import { compareRanges } from '../../formats/column/compare.ts'
import { sortByWord } from './sort-ints.ts'

/** Groups up to this size are sorted by insertion: counting passes would cost more than the rows. */
const INSERTION = 48

/** Bytes looked at in one round. */
const CHUNK = 8

/**
 * Sorts `rows` by the byte strings they point at: unsigned, the shorter first; stable.
 *
 * Each round sorts by the next eight bytes as two words, padded with zeros, and by how many bytes there were; then the groups
 * whose eight bytes agree go on with the next eight. What all keys share is skipped.
 */
export function radixSortBytes(data: Uint8Array, offsets: Int32Array, rows: Uint32Array): Uint32Array {
  const work: Work = {
    data,
    offsets,
    rows,
    words: new Uint32Array((offsets.length - 1) * 3),
    spare: new Uint32Array(rows.length),
  }
  const pending: Group[] = [{ start: 0, end: rows.length, depth: sharedPrefix(data, offsets, rows) }]
  for (let group = pending.pop(); group !== undefined; group = pending.pop()) {
    if (group.end - group.start <= INSERTION) insertionSort(work, group)
    else pending.push(...sortChunk(work, group))
  }
  return rows
}

interface Group {
  readonly start: number
  readonly end: number
  /** Leading bytes that all keys of the group share. */
  readonly depth: number
}

interface Work {
  readonly data: Uint8Array
  readonly offsets: Int32Array
  readonly rows: Uint32Array
  /** Of each row: bytes present in the chunk (0 to 8, 9 when more follow), low word, high word. */
  readonly words: Uint32Array
  readonly spare: Uint32Array
}

/** Leading bytes that all keys share; the scan ends early when there are none. */
function sharedPrefix(data: Uint8Array, offsets: Int32Array, rows: Uint32Array): number {
  if (rows.length === 0) return 0
  const start = offsets[rows[0]!]!
  let shared = offsets[rows[0]! + 1]! - start
  for (let i = 1; i < rows.length && shared > 0; i++) {
    const at = offsets[rows[i]!]!
    const length = Math.min(shared, offsets[rows[i]! + 1]! - at)
    let same = 0
    while (same < length && data[start + same] === data[at + same]) same++
    shared = same
  }
  return shared
}

/** Sorts a group by its next eight bytes; returns the parts whose keys still agree and go on. */
function sortChunk(work: Work, { start, end, depth }: Group): Group[] {
  const { words } = work
  const rows = work.rows.subarray(start, end)
  const spare = work.spare.subarray(0, end - start)
  for (let i = 0; i < rows.length; i++) loadChunk(work, rows[i]!, depth)
  let sorted = rows
  for (let word = 0; word < 3; word++)
    sorted = sortByWord(words, 3, word, sorted, sorted === rows ? spare : rows, word === 0 ? 4 : 32)
  if (sorted !== rows) rows.set(sorted)
  const groups: Group[] = []
  for (let i = 0; i < rows.length; ) {
    const base = rows[i]! * 3
    let next = i + 1
    while (next < rows.length && sameChunk(words, base, rows[next]! * 3)) next++
    // Keys that end inside equal chunks are equal: nothing is left to sort.
    if (next - i > 1 && words[base]! > CHUNK) groups.push({ start: start + i, end: start + next, depth: depth + CHUNK })
    i = next
  }
  return groups
}

function loadChunk({ data, offsets, words }: Work, row: number, depth: number): void {
  const start = offsets[row]! + depth
  const end = offsets[row + 1]!
  words[row * 3] = end - start > CHUNK ? CHUNK + 1 : end - start
  words[row * 3 + 1] = wordAt(data, start + 4, end)
  words[row * 3 + 2] = wordAt(data, start, end)
}

function wordAt(data: Uint8Array, start: number, end: number): number {
  if (start + 4 <= end)
    return (data[start]! << 24) | (data[start + 1]! << 16) | (data[start + 2]! << 8) | data[start + 3]!
  let word = 0
  for (let i = 0; i < 4; i++) word = (word << 8) | (start + i < end ? data[start + i]! : 0)
  return word
}

function sameChunk(words: Uint32Array, a: number, b: number): boolean {
  return words[a] === words[b] && words[a + 1] === words[b + 1] && words[a + 2] === words[b + 2]
}

function insertionSort({ data, offsets, rows }: Work, { start, end, depth }: Group): void {
  for (let i = start + 1; i < end; i++) {
    const row = rows[i]!
    const from = offsets[row]! + depth
    const to = offsets[row + 1]!
    let at = i
    while (at > start) {
      const other = rows[at - 1]!
      if (compareRanges(data, offsets[other]! + depth, offsets[other + 1]!, data, from, to) <= 0) break
      rows[at] = other
      at--
    }
    rows[at] = row
  }
}
