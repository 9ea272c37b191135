import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import type { ChangeBatch, ChangesOptions, FollowOptions, RowKind } from '../api/calls.ts'
import { TableError } from '../errors.ts'
import { KIND_TEXTS } from '../merge/kinds.ts'
import { checkCall, shown } from '../options/check-call.ts'
import { forwardAbort } from '../tasks/abort.ts'
import { ChangeSource, checkTable } from './change-source.ts'
import { ConsumerMark } from './consumer-mark.ts'
import type { TableCore } from './core.ts'
import { captureScan, scanBatches } from './reads.ts'
import { ROWS_AT_A_TIME, type RowReads } from './row-reads.ts'
import { checkAborted, type ScanIterator } from './scan-iterator.ts'
import { settledView } from './settled-view.ts'
import { Wake } from './wake.ts'

type Row = Record<string, unknown>
type Changes = AsyncGenerator<readonly ChangeBatch<Row>[]>

const CALL = { columns: 'names', signal: 'signal' } as const
const POLL_MILLIS = 1000

/** Reads of what changed, of one handle: from snapshot to snapshot, in their order. */
export class ChangeReads {
  readonly #core: TableCore
  readonly #reads: RowReads
  readonly #source: ChangeSource
  /** Whether marks of consumers may be written. */
  readonly #marks: boolean

  constructor(core: TableCore, reads: RowReads, marks: boolean) {
    this.#core = core
    this.#reads = reads
    this.#source = new ChangeSource(core)
    this.#marks = marks
  }

  changes(options: ChangesOptions<string>): ScanIterator<ChangeBatch<Row>> {
    checkCall('changes', options, { from: 'any', to: 'any', ...CALL })
    const { from, to, signal } = options
    checkId('from', from, 0)
    checkId('to', to, 0)
    const columns = this.#reads.columns(options.columns)
    return this.#iterator(signal, (stop) => {
      checkAborted(signal)
      return this.#between(from, to, columns, stop)
    })
  }

  follow(options: FollowOptions<string>): ScanIterator<ChangeBatch<Row>> {
    checkCall('follow', options, { from: 'any', initial: 'flag', consumer: 'text', pollMillis: 'any', ...CALL })
    const { from, initial = false, consumer, pollMillis = POLL_MILLIS, signal } = options
    checkId('from', from, 0)
    if (from !== undefined && initial) {
      throw new TableError('INVALID', 'follow takes from or initial, not both. Give one of them.', {
        option: 'initial',
      })
    }
    if (!(typeof pollMillis === 'number' && pollMillis >= 1 && pollMillis <= 2 ** 31 - 1)) {
      throw new TableError('INVALID', `pollMillis is ${shown(pollMillis)}. Give a number from 1 on.`, {
        option: 'pollMillis',
        value: pollMillis,
      })
    }
    if (consumer !== undefined && !this.#marks) {
      throw new TableError(
        'INVALID',
        `${this.#core.name} was opened with readOnly, so no consumer can leave its mark. Open it without readOnly, or leave consumer out.`,
        { table: this.#core.name, option: 'consumer' },
      )
    }
    if (consumer !== undefined) ConsumerMark.path(this.#core, consumer)
    const columns = this.#reads.columns(options.columns)
    return this.#iterator(signal, (stop) => this.#onwards({ from, initial, consumer, pollMillis, columns }, stop))
  }

  /** A signal that fires ends the iterator; so do `break` and `close`. */
  #iterator(signal: AbortSignal | undefined, start: (stop: AbortSignal) => Changes): ScanIterator<ChangeBatch<Row>> {
    const stop = new AbortController()
    const stopForwarding = forwardAbort(signal, stop)
    return this.#reads.track(
      () => start(stop.signal),
      () => stop.abort(),
      stopForwarding,
    )
  }

  async *#between(
    from: number | undefined,
    to: number | undefined,
    columns: readonly string[],
    stop: AbortSignal,
  ): Changes {
    const range = await this.#source.range()
    if (range === undefined) await checkTable(this.#core)
    if (range === undefined && (from ?? 0) === 0 && to === undefined) return
    const last = to ?? range?.last ?? 0
    const before = from ?? (range?.first ?? 1) - 1
    if (to === undefined) await this.#checkThere(before)
    if (before > last) {
      throw new TableError(
        'INVALID',
        `changes from snapshot ${before} to ${last} run backwards. Give from at most to.`,
        {
          value: before,
        },
      )
    }
    await this.#checkThere(last)
    if (before < last && range !== undefined && before < range.first - 1) throw await this.#source.expired(before + 1)
    const pin = new Pin(this.#core)
    try {
      for (let id = before + 1; id <= last; id++) {
        pin.move(id)
        yield* this.#changesOf(id, columns, stop)
      }
    } finally {
      pin.release()
    }
  }

  async *#onwards(
    follow: {
      readonly from: number | undefined
      readonly initial: boolean
      readonly consumer: string | undefined
      readonly pollMillis: number
      readonly columns: readonly string[]
    },
    stop: AbortSignal,
  ): Changes {
    const { store, services, events } = this.#core
    const { consumer, columns } = follow
    const mark = consumer === undefined ? undefined : ConsumerMark.take(this.#core, consumer)
    const wake = new Wake(services.clock, events)
    const pin = new Pin(this.#core)
    try {
      const known = await mark?.read()
      let next = known?.nextSnapshot ?? (follow.from === undefined ? undefined : follow.from + 1)
      let initial = known?.initialSnapshot
      if (next === undefined) {
        const latest = await this.#begin(pin, follow.initial ? mark : undefined)
        if (follow.initial && latest > 0) initial = latest
        next = latest + 1
      }
      if (initial !== undefined) {
        pin.move(initial)
        for await (const batches of this.#state(initial, columns, stop)) {
          yield batches
          await mark?.keep()
        }
        if (stop.aborted) return
        next = initial + 1
      }
      const { first = 1 } = (await this.#source.range()) ?? {}
      if (next < first) throw await this.#source.expired(next)
      if (known === undefined && next > 1) await this.#checkThere(next - 1)
      pin.move(next)
      if (known === undefined || initial !== undefined) await mark?.write({ nextSnapshot: next })
      while (!stop.aborted) {
        wake.looking()
        const latest = (await store.snapshots.latestId()) ?? 0
        if (latest === 0) await checkTable(this.#core)
        await mark?.keep()
        if (latest < next - 1) throw this.#wentBack(next - 1, latest)
        for (let told = false; next <= latest && !stop.aborted; next++, told = false) {
          for await (const batches of this.#changesOf(next, columns, stop)) {
            told = true
            yield batches
            await mark?.keep()
          }
          if (stop.aborted) return
          pin.move(next + 1)
          if (told || next === latest) await mark?.write({ nextSnapshot: next + 1 })
        }
        await wake.wait(Math.min(follow.pollMillis, mark?.period ?? follow.pollMillis), stop)
      }
    } catch (error) {
      if (!stop.aborted) throw error
    } finally {
      wake.close()
      pin.release()
      mark?.release()
    }
  }

  /** The newest snapshot, 0 without one; it is pinned, and marked for other processes, before its rows are read. */
  async #begin(pin: Pin, mark: ConsumerMark | undefined): Promise<number> {
    const { snapshots } = this.#core.store
    for (;;) {
      const latest = (await snapshots.latestId()) ?? 0
      pin.move(Math.max(1, latest))
      if (mark === undefined || latest === 0) return latest
      await mark.write({ nextSnapshot: latest, initialSnapshot: latest })
      // Somebody may have expired it before the mark was there; then a newer one is the newest.
      if ((await snapshots.find(latest)) !== undefined) return latest
    }
  }

  async *#changesOf(id: number, columns: readonly string[], stop: AbortSignal): Changes {
    for await (const records of this.#source.records(id, columns, stop)) {
      const kinds = (records.columns[0] as FixedColumn).values as Int8Array
      const batch = { fields: records.fields.slice(1), rows: records.rows, columns: records.columns.slice(1) }
      yield* this.#batches(id, batch, (row) => KIND_TEXTS[kinds[row]!]!)
    }
  }

  /** The rows of a snapshot as inserts: as far as the changes that come next will build on them. */
  async *#state(id: number, columns: readonly string[], signal: AbortSignal): Changes {
    const core = this.#core
    const view = settledView(await core.viewOf(id), core.options)
    core.checkSchema('read')
    const request = {
      columns,
      range: {},
      partition: new Map(),
      where: undefined,
      limit: Number.POSITIVE_INFINITY,
      ordered: true,
      reverse: false,
      // These producers tell a row with its flush, which lies behind; lookups tell it when it leaves level 0.
      level0: core.options['changelog-producer'] !== 'lookup',
      signal,
    }
    for await (const batch of scanBatches(core, captureScan(core, undefined, view, request), request)) {
      yield* this.#batches(id, batch, () => '+I')
    }
  }

  *#batches(snapshot: number, batch: Batch, kindOf: (row: number) => RowKind): Generator<readonly ChangeBatch<Row>[]> {
    for (let start = 0; start < batch.rows; start += ROWS_AT_A_TIME) {
      const end = Math.min(batch.rows, start + ROWS_AT_A_TIME)
      const kinds = Array.from({ length: end - start }, (_, row) => kindOf(start + row))
      yield [{ snapshot, kinds, rows: this.#reads.rows(sliceBatch(batch, start, end)) }]
    }
  }

  /** `NOT_FOUND` for a snapshot that is still to come. */
  async #checkThere(id: number): Promise<void> {
    const latest = (await this.#core.store.snapshots.latestId()) ?? 0
    if (id <= latest) return
    const there = latest === 0 ? 'the table has none yet' : `the newest is ${latest}`
    throw new TableError(
      'NOT_FOUND',
      `There is no snapshot ${id} of ${this.#core.name}: ${there}. Give one that is there.`,
      {
        table: this.#core.name,
        value: id,
        latest,
      },
    )
  }

  #wentBack(id: number, latest: number): TableError {
    return new TableError(
      'NOT_FOUND',
      `Snapshot ${id} of ${this.#core.name} is gone: another engine went back to snapshot ${latest}, or made the table anew. Scan the table and follow it anew.`,
      { table: this.#core.name, value: id, latest },
    )
  }
}

/** Keeps one snapshot, and all after it, from the expiry of this process. */
class Pin {
  readonly #core: TableCore
  #release: () => void = () => undefined

  constructor(core: TableCore) {
    this.#core = core
  }

  move(id: number): void {
    const before = this.#release
    this.#release = this.#core.pins.pin(id)
    before()
  }

  release(): void {
    this.#release()
  }
}

function checkId(option: string, id: number | undefined, min: number): void {
  if (id === undefined || (Number.isSafeInteger(id) && id >= min)) return
  throw new TableError('INVALID', `${option} is ${shown(id)}. Give the id of a snapshot, or 0 for before the first.`, {
    option,
    value: id,
  })
}
