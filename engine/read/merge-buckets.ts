import type { Batch, Scalar } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { compareRowToKey, firstAfter, firstAtLeast } from '../../formats/column/key-bounds.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { deduplicate } from '../merge/engines/deduplicate.ts'
import { mergeRuns } from '../merge/merge.ts'
import type { KvLayout } from '../plan/kv-layout.ts'

/**
 * Merges the rows of buckets into one stream by key. A key lives in one bucket, so nothing meets: windows are cut at the
 * smallest last key of the batches at hand, as in the merge of runs, and put in order by the same kernel. In reverse, batches come
 * from the last keys to the first, the rows of each ascend, and windows are cut at the largest first key.
 */
export async function* mergeBuckets(
  streams: readonly AsyncGenerator<Batch>[],
  layout: KvLayout,
  reverse: boolean,
): AsyncGenerator<Batch> {
  const heads: { readonly stream: AsyncGenerator<Batch>; batch: Batch }[] = []
  try {
    for (const head of await Promise.all(streams.map(async (stream) => ({ stream, batch: await nextBatch(stream) })))) {
      if (head.batch !== undefined) heads.push({ stream: head.stream, batch: head.batch })
    }
    while (heads.length > 1) {
      const batches = heads.map((head) => head.batch)
      const end = reverse ? largestFirstKey(batches, layout) : smallestLastKey(batches, layout)
      const windows: Batch[] = []
      for (let index = heads.length - 1; index >= 0; index--) {
        const head = heads[index]!
        const { rows } = head.batch
        const cut = (reverse ? firstAtLeast : firstAfter)(keysOf(head.batch, layout), rows, end)
        const [window, rest] = reverse
          ? [
              [cut, rows],
              [0, cut],
            ]
          : [
              [0, cut],
              [cut, rows],
            ]
        if (window[0]! < window[1]!) windows.unshift(sliceBatch(head.batch, window[0]!, window[1]!))
        if (rest[0]! < rest[1]!) {
          head.batch = sliceBatch(head.batch, rest[0]!, rest[1]!)
          continue
        }
        const next = await nextBatch(head.stream)
        if (next === undefined) heads.splice(index, 1)
        else head.batch = next
      }
      if (windows.length === 1) yield windows[0]!
      else if (reverse) yield* [...mergeWindow(windows, layout)].reverse()
      else yield* mergeWindow(windows, layout)
    }
    for (const { batch, stream } of heads) {
      yield batch
      yield* stream
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)))
  }
}

function mergeWindow(windows: readonly Batch[], layout: KvLayout): Generator<Batch> {
  return mergeRuns(
    windows.map((window) => [window]),
    {
      keys: layout.keyIndexes,
      keyTypes: layout.keyTypes,
      sequence: layout.sequence,
      engine: deduplicate,
      sortEngine: 'loser-tree',
    },
  )
}

async function nextBatch(stream: AsyncGenerator<Batch>): Promise<Batch | undefined> {
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) return undefined
    if (value.rows > 0) return value
  }
}

function smallestLastKey(batches: readonly Batch[], layout: KvLayout): readonly Scalar[] {
  let smallest = batches[0]!
  for (const batch of batches) {
    if (compareRowToKey(keysOf(batch, layout), batch.rows - 1, lastKey(smallest, layout)) < 0) smallest = batch
  }
  return lastKey(smallest, layout)
}

function largestFirstKey(batches: readonly Batch[], layout: KvLayout): readonly Scalar[] {
  let largest = firstKey(batches[0]!, layout)
  for (const batch of batches) {
    if (compareRowToKey(keysOf(batch, layout), 0, largest) > 0) largest = firstKey(batch, layout)
  }
  return largest
}

function firstKey(batch: Batch, layout: KvLayout): readonly Scalar[] {
  return keysOf(batch, layout).map((column) => scalarAt(column, 0)!)
}

function lastKey(batch: Batch, layout: KvLayout): readonly Scalar[] {
  return keysOf(batch, layout).map((column) => scalarAt(column, batch.rows - 1)!)
}

function keysOf(batch: Batch, layout: KvLayout) {
  return layout.keyIndexes.map((index) => batch.columns[index]!)
}
