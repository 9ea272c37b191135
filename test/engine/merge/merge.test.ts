import t from 'tap'
import { deduplicate } from '../../../engine/merge/engines/deduplicate.ts'
import { type MergeOptions, mergeRuns } from '../../../engine/merge/merge.ts'
import { orderRows } from '../../../engine/merge/order.ts'
import { reduce } from '../../../engine/merge/reduce.ts'
import type { Batch, FixedColumn } from '../../../formats/column/column.ts'
import { buffersOf, copyBatch } from '../../../formats/column/copy.ts'
import { takeBatch } from '../../../formats/column/gather.ts'
import { keysOf } from '../../../formats/column/key-order.ts'
import { heapMemory } from '../../../formats/column/memory.ts'
import { concatBatches, sliceBatch } from '../../../formats/column/slice.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { keyTypes, plain, seeded } from '../../formats/column/support.ts'
import { arrivals, compareKey, keyAt, modelSort } from './support.ts'

const int: readonly DataType[] = [{ kind: 'int', nullable: false }]

function optionsFor(types: readonly DataType[], more: Partial<MergeOptions> = {}): MergeOptions {
  const keys = types.map((_, index) => index)
  return { keys, keyTypes: types, sequence: types.length, engine: deduplicate, sortEngine: 'loser-tree', ...more }
}

function cut(batch: Batch, random: () => number, longest: number): readonly Batch[] {
  const parts: Batch[] = []
  for (let start = 0; start < batch.rows; ) {
    const end = Math.min(batch.rows, start + Math.floor(random() * longest) + (random() < 0.9 ? 1 : 0))
    parts.push(sliceBatch(batch, start, end))
    start = end
  }
  return parts
}

const values = (batches: readonly Batch[]) => concatBatches(batches).columns.map(plain)

t.test('merged runs hold the newest row of each key, for all key types, run counts and batch sizes', async (t) => {
  const random = seeded(77)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  for (let round = 0; round < 150; round++) {
    const types = Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(keyTypes))
    const count = pick([1, 2, 3, 5, 9, 17])
    let sequence = 0
    const runs: Batch[] = []
    for (let run = 0; run < count; run++) {
      const rows = pick([0, 1, 5, 60])
      runs.push(modelSort(arrivals(types, rows, sequence, random), types.length))
      if (random() < 0.8) sequence += rows
    }
    const all = concatBatches(runs)
    // Newest last: by sequence number, equal numbers by run; then the model keeps the last of each key.
    const numbers = (all.columns[types.length] as FixedColumn).values as BigInt64Array
    const oldestFirst = [...numbers.keys()].sort((a, b) => Number(numbers[a]! - numbers[b]!) || a - b)
    const expected = modelSort(takeBatch(all, Uint32Array.from(oldestFirst)), types.length)
    for (const sortEngine of ['loser-tree', 'min-heap'] as const) {
      const windowRows = pick([1, 3, 64, 16384])
      const longest = pick([1, 4, 100])
      const inputs = runs.map((run) => cut(run, random, longest))
      const result = [...mergeRuns(inputs, optionsFor(types, { sortEngine, windowRows }))]
      t.ok(
        result.every((batch) => batch.rows > 0 && batch.rows <= windowRows),
        'batches are neither empty nor too long',
      )
      t.strictSame(values(result.length === 0 ? [sliceBatch(all, 0, 0)] : result), expected.columns.map(plain))
    }
  }
})

t.test('an order lists every row, rows of a key together and oldest first', async (t) => {
  const random = seeded(3)
  const runs = [0, 1, 2].map((run) => modelSort(arrivals(int, 300, (2 - run) * 300, random), 1))
  const inputs = runs.map((batch) => ({
    keys: keysOf([batch.columns[0]!], int, batch.rows),
    sequence: (batch.columns[1] as FixedColumn).values as BigInt64Array,
    start: 1,
    end: batch.rows - 1,
  }))
  const order = orderRows(inputs, 'loser-tree')
  t.equal(
    order.row.length,
    inputs.reduce((sum, input) => sum + input.end - input.start, 0),
  )
  t.strictSame(orderRows(inputs, 'min-heap'), order)
  let start = 0
  for (const end of order.groupEnd) {
    for (let i = start + 1; i < end; i++) {
      const [a, b] = [order.source[i - 1]!, order.source[i]!]
      t.strictSame(keyAt(runs[a]!, 1, order.row[i - 1]!), keyAt(runs[b]!, 1, order.row[i]!))
      t.ok(inputs[a]!.sequence[order.row[i - 1]!]! < inputs[b]!.sequence[order.row[i]!]!)
    }
    if (end < order.row.length) {
      const next = keyAt(runs[order.source[end]!]!, 1, order.row[end]!)
      t.ok(compareKey(keyAt(runs[order.source[end - 1]!]!, 1, order.row[end - 1]!), next) < 0)
    }
    start = end
  }
  t.equal(start, order.row.length)
})

function ints(keys: readonly number[], sequence: number): Batch {
  const batch = arrivals(int, keys.length, sequence, seeded(1))
  const column = { kind: 'fixed', length: keys.length, values: Int32Array.from(keys) } as const
  return { ...batch, columns: [column, ...batch.columns.slice(1)] }
}

t.test('a stretch that only one run has is passed on as views', async (t) => {
  const old = ints([1, 2, 3, 900], 0)
  const young = ints(
    Array.from({ length: 600 }, (_, i) => i + 10),
    10,
  )
  const result = [...mergeRuns([[old], [young]], optionsFor(int, { windowRows: 1000 }))]
  const shared = result.some(
    (batch) => (batch.columns[0] as FixedColumn).values.buffer === (young.columns[0] as FixedColumn).values.buffer,
  )
  t.equal(shared, false, 'the window is cut at 609, where the old run has rows too')
  const alone = [...mergeRuns([[ints([1], 0)], [young]], optionsFor(int, { windowRows: 1000 }))]
  const last = alone.at(-1)!
  t.equal((last.columns[0] as FixedColumn).values.buffer, (young.columns[0] as FixedColumn).values.buffer)
})

t.test('keys out of order at a batch border are CORRUPT, and every run is closed', async (t) => {
  const closed: number[] = []
  function* run(id: number, batches: readonly Batch[]): Generator<Batch> {
    try {
      yield* batches
    } finally {
      closed.push(id)
    }
  }
  const good = () => run(0, [ints([1, 2], 0), ints([5, 9], 5)])
  for (const bad of [[ints([1, 3], 9), ints([3, 4], 20)], [ints([1, 3], 9), ints([2], 20)], [ints([3, 1], 9)]]) {
    closed.length = 0
    t.throws(() => [...mergeRuns([good(), run(1, bad)], optionsFor(int))], {
      code: 'CORRUPT',
      message: /keys out of order/,
      details: { run: 1 },
    })
    t.strictSame(closed.sort(), [0, 1])
  }
})

t.test('stopping early closes the runs; at most one batch a run has been read', async (t) => {
  let open = 0
  let read = 0
  function* run(first: number): Generator<Batch> {
    open++
    try {
      for (let i = 0; i < 50; i++) {
        read++
        yield ints([first + i * 10, first + i * 10 + 5], i)
      }
    } finally {
      open--
    }
  }
  for (const _ of mergeRuns([run(0), run(1), run(2)], optionsFor(int, { windowRows: 4 }))) break
  t.equal(open, 0)
  t.ok(read <= 6, `read ${read} batches`)
})

t.test('no runs, empty runs and runs of empty batches give nothing', async (t) => {
  t.strictSame([...mergeRuns([], optionsFor(int))], [])
  t.strictSame([...mergeRuns([[], []], optionsFor(int))], [])
  t.strictSame([...mergeRuns([[ints([], 0)], [ints([], 0), ints([], 0)]], optionsFor(int))], [])
})

t.test('columns that are one in every run are one in the result', async (t) => {
  const random = seeded(5)
  const types: readonly DataType[] = [{ kind: 'bigint', nullable: false }]
  const runs = [0, 1].map((run) => {
    const { fields, rows, columns } = modelSort(arrivals(types, 40, run * 40, random), 1)
    return { fields: [...fields, fields[0]!], rows, columns: [...columns, columns[0]!] }
  })
  const reduced = (batches: readonly Batch[]) => {
    const inputs = batches.map((batch) => ({
      keys: keysOf(batch.columns.slice(0, 1), types, batch.rows),
      sequence: (batch.columns[1] as FixedColumn).values as BigInt64Array,
      start: 0,
      end: batch.rows,
    }))
    return reduce(batches, orderRows(inputs, 'loser-tree'), deduplicate).columns
  }
  const one = reduced(runs)
  t.equal(one.at(-1), one[0])
  const two = reduced(runs.map((run) => ({ ...run, columns: [...run.columns.slice(0, -1), { ...run.columns[0]! }] })))
  t.not(two.at(-1), two[0], 'equal columns that are two stay two')
  t.same(plain(two.at(-1)!), plain(one[0]!))
})

t.test('with reuse a caller that takes rows at once gets the same, whatever is overwritten behind it', async (t) => {
  const random = seeded(11)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  /** Batches of a run; each is spoilt when the next but one is asked for. */
  function* overwriting(batches: readonly Batch[]): Generator<Batch> {
    const given: Batch[] = []
    for (const batch of batches.filter(({ rows }) => rows > 0)) {
      const old = given.at(-2)
      if (old !== undefined) for (const buffer of buffersOf([old])) new Uint8Array(buffer).fill(0xa5)
      given.push(copyBatch(batch, heapMemory))
      yield given.at(-1)!
    }
  }
  for (let round = 0; round < 60; round++) {
    const types = [pick(keyTypes)]
    const runs = Array.from({ length: pick([1, 2, 4, 9]) }, (_, run) =>
      modelSort(arrivals(types, pick([0, 1, 30, 90]), run * 100, random), 1),
    )
    const windowRows = pick([1, 5, 40, 16384])
    const inputs = runs.map((run) => cut(run, random, pick([1, 4, 30])))
    const expected = [...mergeRuns(inputs, optionsFor(types, { windowRows }))]
    const taken: Batch[] = []
    for (const batch of mergeRuns(inputs.map(overwriting), optionsFor(types, { windowRows, reuse: true }))) {
      taken.push(copyBatch(batch, heapMemory))
    }
    t.equal(taken.length, expected.length)
    if (taken.length > 0) t.strictSame(values(taken), values(expected))
  }
})
