import type { Operation } from './operation.ts'
import type { Shape } from './shape.ts'

/** Operations that lead somewhere a random run comes to only by luck. */
export interface Course {
  readonly name: string
  readonly shape: Shape
  readonly operations: readonly Operation[]
}

const shape: Shape = {
  seed: 1,
  key: 'int',
  keys: 2000,
  partitions: 0,
  options: {},
  processes: 1,
  handles: 1,
  autoCommit: 0,
  commits: 1,
  latency: 0,
  failures: 0,
}

let version = 0
const put = (from: number, count: number, h = 0): Operation => {
  version += 10_000
  return { op: 'put', h, keys: Array.from({ length: count }, (_, index) => from + index), v: version }
}
const commit = (h = 0): Operation => ({ op: 'commit', h })
const pass = (turns: number): Operation => ({ op: 'pass', millis: 0, turns })
const full: Operation = { op: 'compact', h: 0, full: true }
const levels: Operation = { op: 'levels', h: 0 }

/** `times` commits of `count` rows each, every one compacted as far as it goes before the next. */
const commits = (times: number, count: number): Operation[] =>
  Array.from({ length: times }, (_, index) => [put(index * count, count), commit(), pass(200)]).flat()

export const courses: readonly Course[] = [
  {
    // Each level gets less than the one below it, so that it stays: five runs to level 4, four to level 3, and so on.
    name: 'every level',
    shape: {
      ...shape,
      options: {
        'num-levels': '6',
        'num-sorted-run.compaction-trigger': '6',
        'compaction.max-size-amplification-percent': '1000000',
        'compaction.size-ratio': '20',
        'file.compression': 'none',
      },
    },
    operations: [
      ...[put(0, 1000), put(1000, 1000), commit(), full],
      ...[...commits(5, 150), ...commits(4, 100), ...commits(3, 60), ...commits(2, 1)],
      ...[levels, full],
    ],
  },
  {
    name: 'files that only change their level',
    shape: { ...shape, keys: 400, options: { 'target-file-size': '1 kb' } },
    operations: [
      put(0, 100),
      commit(),
      put(100, 100),
      commit(),
      put(200, 100),
      commit(),
      full,
      put(300, 100),
      commit(),
      full,
    ],
  },
  {
    name: 'more runs than are merged at once',
    shape: { ...shape, keys: 50, options: { 'sort-spill-threshold': '2', 'num-sorted-run.compaction-trigger': '9' } },
    operations: [...Array.from({ length: 6 }, () => [put(0, 50), commit()]).flat(), levels, full],
  },
  {
    name: 'writers that wait for a compaction',
    shape: {
      ...shape,
      keys: 50,
      latency: 40,
      options: { 'num-sorted-run.compaction-trigger': '2', 'num-sorted-run.stop-trigger': '2' },
    },
    operations: Array.from({ length: 12 }, () => [put(0, 20), commit()]).flat(),
  },
  {
    name: 'two writers that want one snapshot',
    shape: { ...shape, keys: 50, processes: 2, options: { 'num-sorted-run.compaction-trigger': '2' } },
    operations: Array.from({ length: 10 }, (): Operation[] => [
      ...[put(0, 30, 0), put(20, 30, 1)],
      { op: 'together', operations: [commit(0), commit(1)] },
      ...[{ op: 'scan', h: 0, spec: {} } as const, { op: 'scan', h: 1, spec: {} } as const],
    ]).flat(),
  },
]
