import type { Batch } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { createRowReader, type RowReader, rowsOf, type ValueForms } from '../../formats/column/values.ts'
import type { Field } from '../../formats/types/row-type.ts'
import type { AnyReadOptions, AnyScanOptions } from '../api/calls.ts'
import type { Keys, Range } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { parseWhere } from '../api/where.ts'
import { isTableError, TableError } from '../errors.ts'
import { checkCall, shown } from '../options/check-call.ts'
import { fieldNamed } from '../plan/kv-layout.ts'
import type { TableView } from '../store/view.ts'
import type { TableCore } from './core.ts'
import { PointReads, type PointRow, type PointSource } from './point-reads.ts'
import { type CapturedScan, captureScan, FIRST_SNAPSHOT, type ScanRequest, scanBatches } from './reads.ts'
import { checkAborted, ScanIterator } from './scan-iterator.ts'
import type { TableState } from './state.ts'

const READ_OPTIONS = { columns: 'names', snapshot: 'any', signal: 'signal' } as const
const SCAN_OPTIONS = {
  ...READ_OPTIONS,
  range: 'any',
  where: 'any',
  limit: 'count',
  ordered: 'flag',
  reverse: 'flag',
  onStats: 'callback',
} as const

/** Rows turned into objects at a time: a consumer that leaves early has not paid for a whole batch. */
export const ROWS_AT_A_TIME = 1024

/** Columns of the table in the order asked. */
interface Projection {
  readonly fields: readonly Field[]
  readonly indexes: readonly number[]
}

type MaybeLater<T> = T | Promise<T>

/** The reading half of a handle. */
export class RowReads {
  readonly #core: TableCore
  readonly #state: TableState | undefined
  readonly #keys: Keys
  readonly #forms: ValueForms
  readonly #points: PointReads
  /** All columns: worked out once, since most gets ask for them. */
  readonly #whole: Projection
  /** Readers of blocks that the cache of point reads holds: a block is asked again and again. */
  readonly #readers = new WeakMap<object, RowReader>()
  readonly #scans = new Set<{ fail(error: unknown): Promise<void> }>()

  constructor(core: TableCore, state: TableState | undefined, keys: Keys, forms: ValueForms) {
    this.#core = core
    this.#state = state
    this.#keys = keys
    this.#forms = forms
    this.#points = new PointReads(core, keys.fields)
    this.#whole = this.#projection(undefined)
  }

  /** The row of a key: at once where nothing has to be waited for, so that a get of rows in memory costs one promise, not four. */
  get(key: unknown, options: AnyReadOptions): MaybeLater<Record<string, unknown> | undefined> {
    checkCall('get', options, READ_OPTIONS)
    // Only a handle that writes knows the newest state without looking for it.
    if (options.snapshot !== undefined || this.#state === undefined) return this.#getLater(key, options)
    const { view } = this.#core
    try {
      checkAborted(options.signal)
      this.#core.checkSchema('read')
      const projection = options.columns === undefined ? this.#whole : this.#projection(options.columns)
      return this.#rowOf(key, projection, { writer: this.#state.writer, view })
    } catch (error) {
      return this.#explained(error, view?.snapshot.id).then((explained) => Promise.reject(explained))
    }
  }

  async #getLater(key: unknown, options: AnyReadOptions): Promise<Record<string, unknown> | undefined> {
    return (await this.getMany([key], options))[0]
  }

  /** The newest row that this handle knows of: one that only reads has to be refreshed by hand. */
  getSync(key: unknown): Record<string, unknown> | undefined {
    this.#core.checkSchema('read')
    return this.#rowOf(key, this.#whole, { writer: this.#state?.writer, view: this.#core.view })
  }

  #rowOf(key: unknown, projection: Projection, source: PointSource): Record<string, unknown> | undefined {
    const found = this.#points.find(this.#keys.one(key), projection.indexes, source)
    if (found === undefined) return undefined
    try {
      return this.#readerOf(found, projection).one(found.row)
    } catch (error) {
      throw asTableError(error, 'read')
    }
  }

  #readerOf(found: PointRow, projection: Projection): RowReader {
    const holder = 'batch' in found ? found.batch : found.block
    const known = projection === this.#whole ? this.#readers.get(holder) : undefined
    if (known !== undefined) return known
    const { fields, indexes } = projection
    const columns = this.#points.columns(found, indexes)
    const reader = createRowReader({ fields, rows: columns[0]?.length ?? 0, columns }, this.#forms)
    if (projection === this.#whole) this.#readers.set(holder, reader)
    return reader
  }

  async getMany(keys: readonly unknown[], options: AnyReadOptions): Promise<(Record<string, unknown> | undefined)[]> {
    checkCall('getMany', options, READ_OPTIONS)
    if (!Array.isArray(keys)) {
      throw new TableError('INVALID', 'getMany takes an array of keys. Give one, or call get.', { value: keys })
    }
    const batch = this.#keys.batch(keys)
    const projection = options.columns === undefined ? this.#whole : this.#projection(options.columns)
    checkAborted(options.signal)
    const view = await this.#view(options.snapshot)
    checkAborted(options.signal)
    const writer = options.snapshot === undefined ? this.#state?.writer : undefined
    const release = view && this.#core.pins.pin(view.snapshot.id)
    try {
      return this.#rowsOf(this.#points.findMany(batch, projection.indexes, { writer, view }), projection)
    } catch (error) {
      throw await this.#explained(error, view?.snapshot.id)
    } finally {
      release?.()
    }
  }

  /** Row objects, those of one block together. */
  #rowsOf(found: readonly (PointRow | undefined)[], projection: Projection): (Record<string, unknown> | undefined)[] {
    const result: (Record<string, unknown> | undefined)[] = new Array(found.length).fill(undefined)
    interface Group {
      readonly first: PointRow
      readonly rows: number[]
      readonly at: number[]
    }
    const byHolder = new Map<object, Group>()
    let holder: object | undefined
    let group: Group | undefined
    for (let index = 0; index < found.length; index++) {
      const point = found[index]
      if (point === undefined) continue
      const own = 'batch' in point ? point.batch : point.block
      if (own !== holder || group === undefined) {
        holder = own
        group = byHolder.get(own) ?? { first: point, rows: [], at: [] }
        byHolder.set(own, group)
      }
      group.rows.push(point.row)
      group.at.push(index)
    }
    try {
      for (const { first, rows, at } of byHolder.values()) this.#readerOf(first, projection).some(rows, result, at)
    } catch (error) {
      throw asTableError(error, 'read')
    }
    return result
  }

  /** A scan whose batches `convert` turns into items. A writing handle fixes what is read now, a reading one at the first item. */
  scan<T>(
    options: AnyScanOptions,
    convert: (batches: AsyncGenerator<Batch>) => AsyncGenerator<readonly T[]>,
  ): ScanIterator<T> {
    const request = this.#request(options)
    checkSnapshot(options.snapshot)
    const core = this.#core
    core.checkSchema('read')
    const late = options.snapshot !== undefined || this.#state === undefined
    // Files that no snapshot holds yet will be in the first one, or later, and may expire before the scan comes to them.
    let id = core.view?.snapshot.id ?? (late ? undefined : FIRST_SNAPSHOT)
    let captured: CapturedScan | undefined = late
      ? undefined
      : captureScan(core, this.#state?.writer, core.view, request)
    const open = async (): Promise<CapturedScan> => {
      const view = await this.#view(options.snapshot)
      id = view?.snapshot.id
      return captureScan(core, undefined, view, request)
    }
    const explained = (error: unknown) => this.#explained(error, id)
    const batches = async function* (): AsyncGenerator<Batch> {
      try {
        captured ??= await open()
        yield* scanBatches(core, captured, request)
      } catch (error) {
        throw await explained(error)
      }
    }
    const scan: ScanIterator<T> = new ScanIterator<T>(
      () => convert(batches()),
      () => {
        captured?.release()
        this.#scans.delete(scan)
      },
      options.signal,
    )
    this.#scans.add(scan)
    return scan
  }

  /** A scan of another kind, which `close` ends too; `stop` as in `ScanIterator`, `released` at its end. */
  track<T>(start: () => AsyncGenerator<readonly T[]>, stop: () => void, released: () => void): ScanIterator<T> {
    const scan: ScanIterator<T> = new ScanIterator<T>(
      start,
      () => {
        released()
        this.#scans.delete(scan)
      },
      undefined,
      stop,
    )
    this.#scans.add(scan)
    return scan
  }

  /** Row objects of the batches of a scan, a list at a time. */
  async *rowLists(
    batches: AsyncGenerator<Batch>,
    reverse: boolean,
  ): AsyncGenerator<readonly Record<string, unknown>[]> {
    for await (const batch of batches) {
      for (let end = batch.rows; reverse && end > 0; end -= ROWS_AT_A_TIME) {
        yield this.rows(sliceBatch(batch, Math.max(0, end - ROWS_AT_A_TIME), end)).reverse()
      }
      if (reverse) continue
      for (let start = 0; start < batch.rows; start += ROWS_AT_A_TIME) {
        yield this.rows(sliceBatch(batch, start, Math.min(batch.rows, start + ROWS_AT_A_TIME)))
      }
    }
  }

  rows(batch: Batch): Record<string, unknown>[] {
    try {
      return rowsOf(batch, this.#forms)
    } catch (error) {
      throw asTableError(error, 'read')
    }
  }

  /** Ends every scan that is open. */
  async close(): Promise<void> {
    const closed = new TableError(
      'CLOSED',
      `${this.#core.name} was closed while it was scanned. Open the table again and scan anew.`,
      { table: this.#core.name },
    )
    for (const scan of this.#scans) await scan.fail(closed)
  }

  /** The state to read: a snapshot by id, else the newest that this handle knows; a handle that only reads looks for it. */
  async #view(snapshot: number | undefined): Promise<TableView | undefined> {
    checkSnapshot(snapshot)
    let view: TableView | undefined
    if (snapshot !== undefined) view = await this.#core.viewOf(snapshot)
    else {
      if (this.#state === undefined) await this.#core.refresh()
      view = this.#core.view
    }
    this.#core.checkSchema('read')
    return view
  }

  #request(options: AnyScanOptions): ScanRequest {
    checkCall('scan', options, SCAN_OPTIONS)
    const { range, partition } = this.#keys.range((options.range ?? {}) as Range<unknown>)
    return {
      columns: this.columns(options.columns),
      range,
      partition,
      where: options.where === undefined ? undefined : parseWhere(options.where, this.#core.schema.fields, this.#forms),
      limit: options.limit ?? Number.POSITIVE_INFINITY,
      ordered: options.ordered ?? true,
      reverse: options.reverse ?? false,
      signal: options.signal,
      onStats: options.onStats,
    }
  }

  #projection(columns: readonly string[] | undefined): Projection {
    const { schema } = this.#core
    const names = this.columns(columns)
    return {
      fields: names.map((name) => fieldNamed(schema, name)),
      indexes: names.map((name) => schema.fields.findIndex((field) => field.name === name)),
    }
  }

  /** The columns asked for, each once; all by default. `INVALID` for one that the table lacks. */
  columns(columns: readonly string[] | undefined): readonly string[] {
    const { schema } = this.#core
    if (columns === undefined) return schema.fields.map((field) => field.name)
    for (const name of columns) fieldNamed(schema, name)
    return [...new Set(columns)]
  }

  /** A file that is gone because its snapshot was expired elsewhere is no damage. */
  async #explained(error: unknown, snapshot: number | undefined): Promise<unknown> {
    if (!isTableError(error, 'CORRUPT') || snapshot === undefined) return error
    const { snapshots } = this.#core.store
    if ((await snapshots.latestId()) === undefined || (await snapshots.isLive(snapshot))) return error
    return new TableError(
      'EXPIRED',
      `Snapshot ${snapshot} of ${this.#core.name} was expired while it was read. Call refresh() and read again: a newer snapshot is there.`,
      { table: this.#core.name, value: snapshot },
      error,
    )
  }
}

function checkSnapshot(snapshot: number | undefined): void {
  if (snapshot === undefined || (Number.isSafeInteger(snapshot) && snapshot > 0)) return
  throw new TableError('INVALID', `snapshot is ${shown(snapshot)}. Give the id of one of snapshots().`, {
    value: snapshot,
  })
}
