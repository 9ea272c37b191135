import type { DataFile } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { dropsDeletes } from '../plan/drop-delete.ts'
import type { Explanation } from '../plan/explain.ts'
import type { Levels } from '../plan/levels.ts'
import { inputsOf, planSteps, rewriteEach } from '../plan/steps.ts'
import type { Pick, Step } from '../plan/types.ts'
import type { Clock } from '../ports/clock.ts'
import type { FilesResult } from '../tasks/task.ts'

/** A compaction that has been decided on. */
export interface CompactionPlan {
  readonly pick: Pick
  readonly explanation: Explanation
  readonly steps: readonly Step[]
  readonly outputLevel: number
  readonly dropDelete: boolean
}

export type CompactionRequest = 'normal' | 'full'

/** What a manager knows of its bucket and may ask of it. */
export interface CompactionHost {
  readonly levels: () => Levels
  /** What to compact now; undefined = nothing. */
  readonly plan: (request: CompactionRequest) => CompactionPlan | undefined
  /** Runs the task; rejects with `ABORTED` when the signal fires. */
  readonly run: (plan: CompactionPlan, signal: AbortSignal) => Promise<FilesResult>
  /** Takes the result into the levels, in one synchronous step; false = its inputs are gone, the result was dropped. */
  readonly land: (plan: CompactionPlan, result: FilesResult) => boolean
  readonly failed: (plan: CompactionPlan, error: unknown) => void
}

/** Waits before a failed compaction is tried again, doubled with each failure in a row. */
const RETRY_MILLIS = 1000
const MAX_RETRY_MILLIS = 60_000

type State =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'running'
      readonly done: Promise<void>
      readonly abort: AbortController
      readonly plan: CompactionPlan
    }
  | { readonly kind: 'failed'; readonly retryAt: number; readonly failures: number; readonly cause: unknown }
  | { readonly kind: 'closed' }

/**
 * Compaction of one bucket (I7: one task at a time).
 *
 *              trigger, something to do
 *      idle ────────────────────────────▶ running ──▶ landed ──▶ idle
 *       ▲                                    │
 *       └────── trigger after the wait ── failed            close: aborts, then closed for good
 *
 * A trigger while one runs is remembered and tried again when it has landed.
 */
export class CompactManager {
  readonly #host: CompactionHost
  readonly #clock: Clock
  #state: State = { kind: 'idle' }
  #again = false

  constructor(host: CompactionHost, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  get running(): CompactionPlan | undefined {
    return this.#state.kind === 'running' ? this.#state.plan : undefined
  }

  /** Why the last compaction failed, until one succeeds. */
  get cause(): unknown {
    return this.#state.kind === 'failed' ? this.#state.cause : undefined
  }

  /** Starts what the picker asks for, unless a task runs or a failure is too fresh. Cheap when there is nothing to do. */
  trigger(): void {
    if (this.#state.kind === 'running') this.#again = true
    else if (this.#state.kind === 'idle') this.#start('normal', 0)
    else if (this.#state.kind === 'failed' && this.#clock.now() >= this.#state.retryAt) {
      this.#start('normal', this.#state.failures)
    }
  }

  /** Resolves when no task runs. A failure is not thrown: see `cause`. */
  async settled(): Promise<void> {
    while (this.#state.kind === 'running') await this.#state.done
  }

  /** A full compaction, once the running task is done. Resolves to its plan, or undefined when there was nothing to do. */
  async full(signal?: AbortSignal): Promise<CompactionPlan | undefined> {
    await this.settled()
    if (this.#state.kind === 'closed') throw closed()
    return this.#runNow('full', signal)
  }

  /** A normal compaction now, whatever the last failure; its failure is thrown. */
  async normal(signal?: AbortSignal): Promise<CompactionPlan | undefined> {
    await this.settled()
    if (this.#state.kind === 'closed') throw closed()
    return this.#runNow('normal', signal)
  }

  /** Aborts the running task and waits for it. Nothing starts afterwards. */
  async close(): Promise<void> {
    const state = this.#state
    this.#state = state.kind === 'running' ? state : { kind: 'closed' }
    if (state.kind !== 'running') return
    this.#again = false
    state.abort.abort(new TableError('ABORTED', 'The table is closing.'))
    await state.done
    this.#state = { kind: 'closed' }
  }

  async #runNow(request: CompactionRequest, signal?: AbortSignal): Promise<CompactionPlan | undefined> {
    const plan = this.#start(request, 0, signal)
    await this.settled()
    const cause = this.cause
    if (plan !== undefined && cause !== undefined) throw cause
    return plan
  }

  #start(request: CompactionRequest, failures: number, signal?: AbortSignal): CompactionPlan | undefined {
    this.#again = false
    const plan = this.#host.plan(request)
    if (plan === undefined) {
      this.#state = { kind: 'idle' }
      return undefined
    }
    const abort = new AbortController()
    const forward = () => abort.abort(signal?.reason)
    if (signal?.aborted) forward()
    signal?.addEventListener('abort', forward, { once: true })
    const done = Promise.resolve()
      .then(() => this.#run(plan, abort.signal, failures))
      .finally(() => signal?.removeEventListener('abort', forward))
    this.#state = { kind: 'running', done, abort, plan }
    return plan
  }

  async #run(plan: CompactionPlan, signal: AbortSignal, failures: number): Promise<void> {
    try {
      const result = await this.#host.run(plan, signal)
      const landed = this.#host.land(plan, result)
      this.#state = { kind: 'idle' }
      if (this.#again || !landed) this.#start('normal', 0)
    } catch (error) {
      const wait = Math.min(MAX_RETRY_MILLIS, RETRY_MILLIS * 2 ** failures)
      this.#state = { kind: 'failed', retryAt: this.#clock.now() + wait, failures: failures + 1, cause: error }
      this.#host.failed(plan, error)
    }
  }
}

/** The steps of a pick, as Paimon's compaction task takes them. */
export function planOf(
  pick: Pick,
  explanation: Explanation,
  levels: Levels,
  options: { readonly minFileSize: number; readonly forceRewriteAllFiles: boolean },
): CompactionPlan | undefined {
  const { outputLevel } = pick
  const steps =
    pick.reason === 'rewrite-files'
      ? rewriteEach(pick.files)
      : planSteps(pick.files, { ...options, outputLevel, maxLevel: levels.numLevels - 1 }, levels.compareKeys)
  if (steps.length === 0) return undefined
  return { pick, explanation, steps, outputLevel, dropDelete: dropsDeletes(levels, outputLevel, false) }
}

/** The files that a plan takes out of their levels. */
export function inputFiles(plan: CompactionPlan): readonly DataFile[] {
  return inputsOf(plan.steps)
}

function closed(): TableError {
  return new TableError('CLOSED', 'The table is closed. Open it again.')
}
