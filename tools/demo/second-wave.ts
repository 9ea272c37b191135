/**
 * The second wave: of each hundred rows of the data set five are corrected and one is deleted. Corrections come first, in file
 * order, then the deletes. Which rows, and by how much, depends on nothing but a seed and the position of the row, so that the
 * load and the independent computation can both follow it.
 */
export type Change = 'none' | 'correct' | 'delete'

/** What becomes of the row at a position of the file. Exactly 5 and 1 in each hundred rows, at scattered places. */
export function changeOf(seed: number, row: number): Change {
  const place = row % 100
  // 37 and 100 have no common factor: each place of a hundred has its own turn.
  const turn = (place * 37 + (scramble(seed, (row - place) / 100) % 100)) % 100
  return turn < 5 ? 'correct' : turn === 5 ? 'delete' : 'none'
}

/** Minutes that a correction adds to the delay, 1 to 60; an unknown delay counts as none. */
export function correctionOf(seed: number, row: number): number {
  return 1 + (scramble(seed + 1, row) % 60)
}

/** A well-mixed unsigned 32-bit number of two numbers: the finaliser of MurmurHash3. */
function scramble(seed: number, value: number): number {
  let hash = Math.imul(seed, 0x9e3779b1) ^ value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
