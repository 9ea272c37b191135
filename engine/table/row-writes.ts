import type { RecordBatch } from 'apache-arrow'
import { fromArrow, loadArrow } from '../../formats/column/arrow.ts'
import type { Batch } from '../../formats/column/column.ts'
import type { CommitOptions, CommitResult } from '../api/calls.ts'
import type { Keys } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { TableError } from '../errors.ts'
import { checkCall, shown } from '../options/check-call.ts'
import type { WriteBatch } from '../write/writer.ts'
import { AutoCommitter, checkLimits } from './auto-commit.ts'
import { CommitHistory } from './commit-history.ts'
import { RowEncoder } from './encode.ts'
import type { HandleOptions } from './handle-options.ts'
import { infoOf } from './inspect.ts'
import { RowKinds } from './row-kinds.ts'
import type { TableState } from './state.ts'

/** Identifiers of batch writers of other engines. */
const BATCH_IDENTIFIER = 9223372036854775807n

/** The writing half of a handle: rows in the order of the calls, and commits under the handle's user. */
export class RowWrites {
  readonly state: TableState
  readonly #encoder: RowEncoder
  readonly #kinds: RowKinds
  readonly #auto: AutoCommitter | undefined
  readonly #newHistory: () => CommitHistory
  /** The commits of the handle's user. A user of our own is made up with the first: see `nodeRandom`. */
  #history: CommitHistory | undefined
  /** The largest identifier of this handle; a fixed user goes on where an earlier handle of it ended. */
  #identifier = 0n
  #restored: Promise<void> | undefined
  /** The end of the last write: writes take effect in the order of their calls. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(state: TableState, keys: Keys, options: HandleOptions) {
    const { core } = state
    this.state = state
    this.#encoder = new RowEncoder(core.schema, options.forms, keys, core.spec)
    this.#kinds = new RowKinds(core.schema, core.options, core.spec)
    const prefix = core.options['commit.user-prefix']
    this.#newHistory = () => {
      const user = options.commitUser ?? (prefix === undefined ? '' : `${prefix}_`) + core.store.random.uuid()
      return new CommitHistory(core.store.snapshots, user)
    }
    if (options.commitUser === undefined) this.#restored = Promise.resolve()
    if (options.autoCommit !== undefined) {
      checkLimits(options.autoCommit)
      this.#auto = new AutoCommitter(
        options.autoCommit,
        core.services.clock,
        () => this.commit({}),
        (error) => core.events.emit('failure', { during: 'commit', error }),
      )
    }
  }

  get #own(): CommitHistory {
    this.#history ??= this.#newHistory()
    return this.#history
  }

  /** Whether the handle commits by itself. */
  get automatic(): boolean {
    return this.#auto !== undefined
  }

  async write(mutations: readonly unknown[], signal: AbortSignal | undefined): Promise<void> {
    if (!Array.isArray(mutations)) {
      throw new TableError('INVALID', 'write takes an array of mutations. Give [{ put: rows }, { delete: keys }].', {
        value: mutations,
      })
    }
    this.#warm()
    const batches = mutations.map((mutation): WriteBatch => {
      if (typeof mutation === 'object' && mutation !== null && Object.keys(mutation).length === 1) {
        if ('put' in mutation) return this.#kinds.ofPut(this.#encoder.rows(listOf(mutation.put)))
        if ('delete' in mutation) return this.#kinds.ofDelete(this.#encoder.deletes(listOf(mutation.delete)))
      }
      throw new TableError('INVALID', 'A mutation is { put: rows } or { delete: keys }. Give one of them.', {
        value: mutation,
      })
    })
    await this.#inOrder(async () => batches, signal)
  }

  /** Converting may have to load apache-arrow first; the place in the order of writes is taken by the call all the same. */
  async writeArrow(batch: RecordBatch, signal: AbortSignal | undefined): Promise<void> {
    this.#warm()
    const converted = this.#convert(batch)
    converted.catch(() => undefined)
    await this.#inOrder(async () => [this.#kinds.ofPut(await converted)], signal)
  }

  /** Whoever writes will commit: threads start while rows come in. */
  #warm(): void {
    this.state.core.services.executor.warm?.()
  }

  async commit(options: CommitOptions): Promise<CommitResult> {
    checkCall('commit', options, { identifier: 'any', properties: 'texts', signal: 'signal' })
    return this.state.during(this.#commit(options))
  }

  async #commit({ identifier, properties, signal }: CommitOptions): Promise<CommitResult> {
    await this.#last
    const wanted = identifier === undefined ? undefined : checkIdentifier(identifier)
    const before = wanted === undefined ? undefined : await this.#committedBefore(wanted)
    if (before !== undefined) return before
    if (wanted === undefined) await this.#restore()
    const used = wanted ?? checkIdentifier(this.#identifier + 1n)
    if (used > this.#identifier) this.#identifier = used
    const { snapshots, addedFiles, addedRows } = await this.state.commit({
      user: this.#own.user,
      identifier: used,
      shareable: wanted === undefined && properties === undefined && signal === undefined,
      properties,
      signal,
    })
    return {
      id: this.state.core.view?.snapshot.id,
      created: snapshots.length > 0,
      snapshots: snapshots.map(infoOf),
      identifier: snapshots[0]?.commitIdentifier ?? used,
      records: addedRows,
      files: addedFiles,
    }
  }

  /** A write in the order of writes: those that were called after it stay. */
  async discard(): Promise<void> {
    const done = this.#last.then(() => this.state.discard())
    this.#last = done.catch(() => undefined)
    await done
  }

  /** Waits for writes and commits that were called, and for a commit that the handle started by itself. */
  async settled(): Promise<void> {
    await this.#last
    await this.state.settled()
    await this.#auto?.close()
  }

  async #inOrder(batches: () => Promise<readonly WriteBatch[]>, signal: AbortSignal | undefined): Promise<void> {
    const { writer } = this.state
    const done = this.#last.then(async () => {
      const ready = await batches()
      this.state.core.checkSchema('write')
      await writer.write(ready, signal)
    })
    this.#last = done.catch(() => undefined)
    await this.state.during(done)
    this.#auto?.wrote(writer.uncommittedRows, writer.memoryBytes)
  }

  async #convert(batch: RecordBatch): Promise<Batch> {
    const { fields, primaryKeys } = this.state.core.schema
    if (!isRecordBatch(batch)) {
      throw new TableError(
        'INVALID',
        'putArrow takes a RecordBatch of apache-arrow. Give one, as in table.batches[0].',
        {
          value: batch,
        },
      )
    }
    const arrow = await loadArrow()
    try {
      return fromArrow(arrow, batch, fields, { keys: new Set(primaryKeys) })
    } catch (error) {
      throw asTableError(error, 'write')
    }
  }

  /** The commit of this user with this identifier, if there is one. Its rows are there already, so the buffered ones are dropped. */
  async #committedBefore(identifier: bigint): Promise<CommitResult | undefined> {
    const snapshot = await this.#own.find(identifier)
    if (snapshot === undefined) return undefined
    if (this.state.handles > 1) {
      throw new TableError(
        'INVALID',
        `Identifier ${identifier} is committed already, so its rows would be dropped, and with them those of other handles of the table in this process. Close the others before you replay commits.`,
        { value: identifier },
      )
    }
    await this.state.discard()
    return { id: snapshot.id, created: false, snapshots: [infoOf(snapshot)], identifier, records: 0, files: 0 }
  }

  #restore(): Promise<void> {
    this.#restored ??= this.#own.largest().then(
      (largest) => {
        if (largest !== undefined && largest > this.#identifier) this.#identifier = largest
      },
      (error: unknown) => {
        this.#restored = undefined
        throw error
      },
    )
    return this.#restored
  }
}

/** By shape: the caller may have another copy of apache-arrow than ours. */
function isRecordBatch(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || 'batches' in value) return false
  return 'schema' in value && 'numRows' in value && 'data' in value
}

function checkIdentifier(identifier: bigint | number): bigint {
  const fits =
    typeof identifier === 'bigint'
      ? identifier >= 0n && identifier < BATCH_IDENTIFIER
      : Number.isSafeInteger(identifier) && identifier >= 0
  if (fits) return BigInt(identifier)
  throw new TableError(
    'INVALID',
    `identifier is ${shown(identifier)}: give a whole number from 0 to 2^63 - 2 that grows with each commit.`,
    { value: identifier },
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
