import { createHeads, type Heads, type OrderInput } from './heads.ts'

/**
 * In which order rows of several inputs follow each other: row i of the order is row `row[i]` of input `source[i]`. Rows of one
 * key are neighbours, oldest first; group g holds the rows up to `groupEnd[g]`, exclusive.
 */
export interface MergeOrder {
  readonly source: Uint16Array
  readonly row: Uint32Array
  readonly groupEnd: Uint32Array
}

export type SortEngine = 'loser-tree' | 'min-heap'

/**
 * Merges sorted inputs, oldest first, into one order: by key, then sequence number, then position of the input.
 *
 * The heads of all inputs sit in flat arrays, which is what makes the loop cheap. A loser tree does ⌈log2 n⌉ comparisons a row.
 */
export function orderRows(inputs: readonly OrderInput[], sortEngine: SortEngine): MergeOrder {
  const total = inputs.reduce((sum, input) => sum + input.end - input.start, 0)
  const order = { source: new Uint16Array(total), row: new Uint32Array(total), groupEnd: new Uint32Array(total) }
  const heads = createHeads(inputs)
  const groups = sortEngine === 'min-heap' ? byHeap(inputs, heads, order) : byLoserTree(inputs, heads, order)
  return { source: order.source, row: order.row, groupEnd: order.groupEnd.subarray(0, groups) }
}

/**
 * Node n has the children 2n and 2n + 1; leaves are the inputs at n = size + input. Each inner node keeps the loser of its
 * match, the winner goes up; `winner` is the overall one. After the winner's head moved on, only its path is played again.
 */
function byLoserTree(inputs: readonly OrderInput[], heads: Heads, order: MergeOrder): number {
  const size = inputs.length
  const losers = new Int32Array(size)
  const next = Uint32Array.from(inputs, (input) => input.start)
  const ends = Uint32Array.from(inputs, (input) => input.end)
  for (let input = 0; input < size; input++) load(heads, next, ends, input)
  let winner = playAll(heads, losers, size)
  const { source, row, groupEnd } = order
  let groups = 0
  for (let i = 0; i < row.length; i++) {
    if (i > 0 && !heads.sameAsLast(winner)) groupEnd[groups++] = i
    heads.keepLast(winner)
    source[i] = winner
    row[i] = next[winner]!++
    load(heads, next, ends, winner)
    for (let node = (winner + size) >>> 1; node > 0; node >>>= 1) {
      const loser = losers[node]!
      if (heads.before(loser, winner)) {
        losers[node] = winner
        winner = loser
      }
    }
  }
  if (row.length > 0) groupEnd[groups++] = row.length
  return groups
}

function playAll(heads: Heads, losers: Int32Array, size: number): number {
  const winners = new Int32Array(size * 2)
  for (let input = 0; input < size; input++) winners[size + input] = input
  for (let node = size - 1; node > 0; node--) {
    const left = winners[node * 2]!
    const right = winners[node * 2 + 1]!
    const leftWins = heads.before(left, right)
    winners[node] = leftWins ? left : right
    losers[node] = leftWins ? right : left
  }
  return size === 1 ? 0 : winners[1]!
}

/** A binary heap of the inputs by head; empty inputs sink to its bottom. */
function byHeap(inputs: readonly OrderInput[], heads: Heads, order: MergeOrder): number {
  const next = Uint32Array.from(inputs, (input) => input.start)
  const ends = Uint32Array.from(inputs, (input) => input.end)
  for (let input = 0; input < inputs.length; input++) load(heads, next, ends, input)
  const heap = Int32Array.from(inputs.keys())
  for (let at = (heap.length >>> 1) - 1; at >= 0; at--) siftDown(heads, heap, at)
  const { source, row, groupEnd } = order
  let groups = 0
  for (let i = 0; i < row.length; i++) {
    const top = heap[0]!
    if (i > 0 && !heads.sameAsLast(top)) groupEnd[groups++] = i
    heads.keepLast(top)
    source[i] = top
    row[i] = next[top]!++
    load(heads, next, ends, top)
    siftDown(heads, heap, 0)
  }
  if (row.length > 0) groupEnd[groups++] = row.length
  return groups
}

function siftDown(heads: Heads, heap: Int32Array, start: number): void {
  let at = start
  for (;;) {
    let child = at * 2 + 1
    if (child >= heap.length) return
    if (child + 1 < heap.length && heads.before(heap[child + 1]!, heap[child]!)) child++
    if (!heads.before(heap[child]!, heap[at]!)) return
    const swap = heap[at]!
    heap[at] = heap[child]!
    heap[child] = swap
    at = child
  }
}

function load(heads: Heads, next: Uint32Array, ends: Uint32Array, input: number): void {
  if (next[input]! < ends[input]!) heads.load(input, next[input]!)
  else heads.finish(input)
}
