import type { AnyTableDefinition } from '../../engine/api/definition.ts'
import { type Fields, t } from '../../engine/api/fields.ts'
import type { Random } from '../../engine/ports/random.ts'

/** A value that keys are ordered by, column by column. */
type Rank = number | bigint | Uint8Array

/** One kind of primary key: columns, the key with number i, and its place in the order, written down a second time. */
interface KeyKind {
  readonly fields: Fields
  readonly key: (index: number) => Readonly<Record<string, unknown>>
  readonly rank: (index: number) => readonly Rank[]
  /** Whether the test knows how to write the columns as Arrow vectors. */
  readonly arrow: boolean
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Starts of text keys: empty, prefixes of each other, and code points whose UTF-16 and UTF-8 orders differ. */
const STARTS = ['', 'a', 'aa', 'ab', 'z', 'ä', 'é', '€', '\ufffd', '😀', '😀a', '\u0000', 'aaaaaaaaaaaaaaaaaaaaaa']

const text = (index: number) => {
  const round = Math.floor(index / STARTS.length)
  return STARTS[index % STARTS.length]! + (round === 0 ? '' : `/${round}`)
}

export const keyKinds = {
  int: {
    fields: { id: t.int() },
    key: (index) => ({ id: index * 3 - 60 }),
    rank: (index) => [index * 3 - 60],
    arrow: true,
  },
  bigint: {
    fields: { id: t.bigint() },
    key: (index) => ({ id: BigInt(index - 40) * 83_456_789_012_345_678n }),
    rank: (index) => [BigInt(index - 40) * 83_456_789_012_345_678n],
    arrow: true,
  },
  string: {
    fields: { name: t.string() },
    key: (index) => ({ name: text(index) }),
    rank: (index) => [utf8(text(index))],
    arrow: true,
  },
  composite: {
    fields: { name: t.string(), n: t.int() },
    key: (index) => ({ name: STARTS[index % STARTS.length]!, n: -Math.floor(index / STARTS.length) }),
    rank: (index) => [utf8(STARTS[index % STARTS.length]!), -Math.floor(index / STARTS.length)],
    arrow: true,
  },
  decimal: {
    fields: { price: t.decimal(25, 2) },
    key: (index) => ({ price: `${(index - 30) * 1_000_000_007}.25` }),
    rank: (index) => [BigInt(index - 30) * 100_000_000_700n + (index < 30 ? -25n : 25n)],
    arrow: false,
  },
  bytes: {
    fields: { code: t.varbinary(40) },
    key: (index) => ({ code: utf8(text(index)) }),
    rank: (index) => [utf8(text(index))],
    arrow: false,
  },
  moment: {
    fields: { at: t.timestamp(6), ok: t.boolean() },
    key: (index) => ({ at: BigInt(index >> 1) * 86_400_000_001n - 5_000_000_000_000n, ok: index % 2 === 1 }),
    rank: (index) => [BigInt(index >> 1), index % 2],
    arrow: false,
  },
  mixed: {
    fields: { day: t.date(), ratio: t.double(), small: t.smallint() },
    key: (index) => ({ day: (index % 5) - 2, ratio: (index % 7) / 4 - 1, small: index }),
    rank: (index) => [index % 5, index % 7, index],
    arrow: false,
  },
} satisfies Record<string, KeyKind>

export type KeyName = keyof typeof keyKinds

/** Everything about a run but its operations. Plain data: it is printed when a run fails. */
export interface Shape {
  readonly seed: number
  readonly key: KeyName
  /** Number of distinct keys. */
  readonly keys: number
  /** Number of partitions; 0 = the table is not partitioned. */
  readonly partitions: number
  readonly options: Readonly<Record<string, string>>
  /** Independent writers, as processes would be, and handles of each. */
  readonly processes: number
  readonly handles: number
  /** Rows after which handles commit by themselves; 0 = they do not. */
  readonly autoCommit: number
  /** How often commits come, against the usual. */
  readonly commits: number
  /** Turns of the event loop that a task may wait before and after its work. */
  readonly latency: number
  /** Share of tasks that fail, half of them after their work. */
  readonly failures: number
}

/** Shapes follow from their seed: each axis is drawn by itself, so that any two meet in some run. */
export function shapeOf(seed: number, random: Random): Shape {
  const one = <T>(values: readonly T[]): T => values[Math.floor(random.fraction() * values.length)]!
  const often = (share: number) => random.fraction() < share
  const options: Record<string, string> = {
    bucket: one(['1', '1', '2', '4']),
    'num-sorted-run.compaction-trigger': one(['1', '2', '3', '5']),
    'target-file-size': one(['3 kb', '5 kb', '128 mb']),
    'write-buffer-size': one(['12 kb', '64 kb', '256 mb', '256 mb']),
    'snapshot.num-retained.min': one(['1', '4']),
    'snapshot.num-retained.max': one(['6', '12', '1000']),
    'manifest.merge-min-count': one(['2', '5', '30']),
    'manifest.target-file-size': one(['2 kb', '8 mb']),
    'manifest.full-compaction-threshold-size': one(['1 kb', '16 mb']),
    'parquet.page.row.count.limit': one(['2', '20', '20000', '20000']),
    'file.compression': one(['zstd', 'none', 'snappy', 'lz4', 'gzip']),
    'sort-engine': one(['loser-tree', 'min-heap']),
    'metadata.stats-mode': one(['truncate(16)', 'full', 'none', 'counts', 'truncate(2)']),
  }
  if (often(0.6)) options['num-levels'] = one(['2', '6', '6', '6'])
  if (often(0.6)) options['compaction.max-size-amplification-percent'] = one(['1000000', '100000', '50'])
  if (often(0.3)) options['num-sorted-run.stop-trigger'] = one(['3', '5'])
  if (often(0.5)) options['sort-spill-threshold'] = '2'
  if (often(0.4)) options['data-file.thin-mode'] = 'true'
  if (often(0.3)) options['compaction.size-ratio'] = one(['0', '50', '500'])
  if (often(0.2)) options['compaction.force-up-level-0'] = 'true'
  if (often(0.15)) options['commit.force-compact'] = 'true'
  if (often(0.15)) options['write-only'] = 'true'
  if (often(0.15)) options['compaction.force-rewrite-all-files'] = 'true'
  if (often(0.15)) options['compaction.optimization-interval'] = '1 h'
  if (often(0.1)) options['parquet.enable.dictionary'] = 'false'
  if (often(0.2)) options['parquet.block.size'] = '2048'
  if (often(0.1)) options['commit.force-create-snapshot'] = 'true'
  if (often(0.1)) options['manifest.delete-file-drop-stats'] = 'true'
  if (often(0.2)) options['snapshot.clean-empty-directories'] = 'true'
  if (often(0.2)) options['manifest.compression'] = one(['none', 'snappy', 'deflate'])
  const processes = often(0.4) ? 2 : 1
  return {
    seed,
    key: one(Object.keys(keyKinds) as KeyName[]),
    keys: one([6, 30, 30, 100]),
    partitions: often(0.3) ? one([2, 3]) : 0,
    options,
    processes,
    handles: often(0.3) ? 2 : 1,
    // With a second writer nobody could say which commits a read has seen.
    autoCommit: processes === 1 && often(0.2) ? one([20, 80]) : 0,
    commits: one([0.3, 0.5, 1, 2]),
    latency: one([0, 2, 10, 40]),
    failures: often(0.25) ? 0.05 : 0,
  }
}

export type Row = Record<string, unknown>

/** The rows of a shape: key i with version v has one row, and a row read back says which it is. */
export class Rows {
  readonly definition: AnyTableDefinition
  readonly primaryKey: readonly string[]
  /** Columns of the key that files are ordered by. */
  readonly keyColumns: readonly string[]
  readonly arrow: boolean
  readonly #kind: KeyKind
  readonly #shape: Shape
  readonly #indexes = new Map<string, number>()
  readonly #place = new Map<number, number>()

  constructor(shape: Shape) {
    this.#shape = shape
    this.#kind = keyKinds[shape.key]
    this.arrow = this.#kind.arrow
    const partition = shape.partitions > 0 ? { part: t.string() } : {}
    this.keyColumns = Object.keys(this.#kind.fields)
    this.primaryKey = [...Object.keys(partition), ...this.keyColumns]
    this.definition = {
      fields: {
        v: t.int(),
        ...this.#kind.fields,
        note: t.string().nullable(),
        ...partition,
        amount: t.bigint().nullable(),
        score: t.double(),
      },
      primaryKey: this.primaryKey,
      partitionBy: Object.keys(partition),
      options: shape.options,
    }
    for (let index = 0; index < shape.keys; index++) this.#indexes.set(this.#text(this.key(index)), index)
    const order = [...this.#indexes.values()].sort((a, b) => this.#compare(a, b))
    for (const [place, index] of order.entries()) this.#place.set(index, place)
  }

  /** All columns, in the order of the table. */
  get columns(): readonly string[] {
    return Object.keys(this.definition.fields)
  }

  partition(index: number): string | undefined {
    return this.#shape.partitions === 0 ? undefined : `p${index % this.#shape.partitions}`
  }

  /** The primary key with a number. */
  key(index: number): Row {
    const partition = this.partition(index)
    return { ...(partition !== undefined && { part: partition }), ...this.#kind.key(index) }
  }

  /** A row, its columns in the order of the table. */
  row(index: number, version: number): Row {
    const { part, ...key } = this.key(index)
    return {
      v: version,
      ...key,
      note: version % 5 === 0 ? null : `${version} ${'é~'.repeat(version % 23)}`,
      ...(part !== undefined && { part }),
      amount: version % 3 === 0 ? null : BigInt(version) * 1_000_003n - 2n ** 62n,
      score: version / 8,
    }
  }

  /** The number of the key of a row; undefined for a key that was never written. */
  indexOf(row: Row): number | undefined {
    return this.#indexes.get(this.#text(row))
  }

  /** Place of a key in the order of a scan: by partition, then by key. */
  place(index: number): number {
    return this.#place.get(index)!
  }

  /** Negative, 0 or positive by the first `columns` columns that files are ordered by. */
  comparePrefix(a: number, b: number, columns: number): number {
    const [left, right] = [this.#kind.rank(a), this.#kind.rank(b)]
    for (let column = 0; column < columns; column++) {
      const order = compareRank(left[column]!, right[column]!)
      if (order !== 0) return order
    }
    return 0
  }

  #compare(a: number, b: number): number {
    const [left, right] = [this.partition(a) ?? '', this.partition(b) ?? '']
    if (left !== right) return left < right ? -1 : 1
    return this.comparePrefix(a, b, this.keyColumns.length)
  }

  #text(row: Row): string {
    return JSON.stringify(
      this.primaryKey.map((name) => {
        const value = row[name]
        return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
      }),
    )
  }
}

function compareRank(a: Rank, b: Rank): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}
