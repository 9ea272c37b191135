import type { DataFile } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { dropsDeletes } from '../plan/drop-delete.ts'
import type { Explanation } from '../plan/explain.ts'
import { upperFiles } from '../plan/fits.ts'
import { filesOf, type Levels } from '../plan/levels.ts'
import { decideUpgrade, type Rewriter } from '../plan/rewriter.ts'
import { planSteps, rewriteEach, type StepOptions } from '../plan/steps.ts'
import type { Pick, Step } from '../plan/types.ts'
import type { Clock } from '../ports/clock.ts'
import { checkAborted, forwardAbort, untilAborted } from '../tasks/abort.ts'
import type { FilesResult } from '../tasks/task.ts'

/** A compaction that has been decided on. */
export interface CompactionPlan {
  readonly pick: Pick
  readonly explanation: Explanation
  readonly steps: readonly Step[]
  readonly outputLevel: number
  readonly dropDelete: boolean
  readonly maxLevel: number
  readonly rewriter: Rewriter
  /** The files that level-0 rows are looked up in: those of each level above the output, the lowest level first. */
  readonly above: readonly (readonly DataFile[])[]
  /** Files that have a deletion vector. */
  readonly marked: readonly DataFile[]
  /** See `FinishedCompaction`; with lookups. */
  readonly seen: ReadonlySet<string> | undefined
}

export type CompactionRequest = 'normal' | 'full'

/** What a manager knows of its bucket and may ask of it. */
export interface CompactionHost {
  readonly levels: () => Levels
  /** What to compact now; undefined = nothing. */
  readonly plan: (request: CompactionRequest) => CompactionPlan | undefined
  /** Runs the task; rejects with `ABORTED` when the signal fires. Undefined = it cannot be done so, but another plan may do. */
  readonly run: (plan: CompactionPlan, signal: AbortSignal) => Promise<FilesResult | undefined>
  /** Takes the result into the levels, in one synchronous step; false = its inputs are gone, the result was dropped. */
  readonly land: (plan: CompactionPlan, result: FilesResult) => boolean
  readonly failed: (plan: CompactionPlan, error: unknown) => void
}

/** Waits before a failed compaction is tried again, doubled with each failure in a row. */
const RETRY_MILLIS = 1000
const MAX_RETRY_MILLIS = 60_000

type Outcome =
  | { readonly kind: 'landed' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'failed'; readonly error: unknown }

interface Run {
  readonly plan: CompactionPlan
  /** Never rejects. */
  readonly done: Promise<Outcome>
  readonly abort: AbortController
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly run: Run }
  | { readonly kind: 'failed'; readonly failures: number; readonly cause: unknown; readonly retry: AbortController }
  | { readonly kind: 'closed' }

/**
 * Compaction of one bucket (I7: one task at a time).
 *
 *              trigger, something to do
 *      idle ────────────────────────────▶ running ──▶ landed, dropped, aborted ──▶ idle
 *       ▲                                    │
 *       └────────── after a wait ───────── failed            close: aborts, then closed for good
 *
 * A trigger while one runs is remembered and tried again at its end. What `full` and `normal` start is their caller's: a failure
 * is thrown there, and the state is idle afterwards.
 */
export class CompactManager {
  readonly #host: CompactionHost
  readonly #clock: Clock
  #state: State = { kind: 'idle' }
  #again = false
  #closing = false

  constructor(host: CompactionHost, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  get running(): CompactionPlan | undefined {
    return this.#state.kind === 'running' ? this.#state.run.plan : undefined
  }

  /** Why the last compaction in the background failed, until one succeeds. */
  get cause(): unknown {
    return this.#state.kind === 'failed' ? this.#state.cause : undefined
  }

  /** Starts what the picker asks for, unless a task runs or a failure is too fresh. Cheap when there is nothing to do. */
  trigger(): void {
    if (this.#state.kind === 'running') this.#again = true
    else if (this.#state.kind === 'idle') this.#startBackground(0)
  }

  /** Resolves when no task runs. A failure is not thrown: see `cause`. */
  async settled(): Promise<void> {
    while (this.#state.kind === 'running') await this.#state.run.done
  }

  /** A full compaction, once the running task is done. Resolves to its plan, or undefined when there was nothing to do. */
  full(signal?: AbortSignal): Promise<CompactionPlan | undefined> {
    return this.#runNow('full', signal)
  }

  /** A normal compaction now, whatever the last failure; its failure is thrown. */
  normal(signal?: AbortSignal): Promise<CompactionPlan | undefined> {
    return this.#runNow('normal', signal)
  }

  /** Aborts the running task and waits for it. Nothing starts afterwards. */
  async close(): Promise<void> {
    this.#closing = true
    if (this.#state.kind === 'failed') this.#state.retry.abort()
    if (this.#state.kind === 'running') {
      this.#state.run.abort.abort(new TableError('ABORTED', 'The table is closing.'))
      await this.settled()
    }
    this.#state = { kind: 'closed' }
  }

  async #runNow(request: CompactionRequest, signal: AbortSignal | undefined): Promise<CompactionPlan | undefined> {
    for (;;) {
      if (this.#closing) throw closed()
      checkAborted(signal, ABORTED)
      if (this.#state.kind === 'running') {
        await untilAborted(this.#state.run.done, signal, ABORTED)
        continue
      }
      const run = this.#start(request, signal)
      if (run === undefined) return undefined
      const outcome = await run.done
      if (outcome.kind === 'failed') throw outcome.error
      if (outcome.kind === 'landed') return run.plan
      // Another writer changed the files under it, or it could not be done: once more, as things are now.
    }
  }

  #startBackground(failures: number): void {
    this.#start('normal', undefined, (plan, cause) => {
      const retry = new AbortController()
      this.#state = { kind: 'failed', failures: failures + 1, cause, retry }
      const wait = Math.min(MAX_RETRY_MILLIS, RETRY_MILLIS * 2 ** failures)
      this.#clock.sleep(wait, { signal: retry.signal }).then(
        () => this.#state.kind === 'failed' && this.#state.retry === retry && this.#startBackground(failures + 1),
        () => undefined,
      )
      this.#host.failed(plan, cause)
    })
  }

  /** Undefined when there is nothing to do. `failed` takes the state over after a failure that nobody asked for by abort. */
  #start(
    request: CompactionRequest,
    signal?: AbortSignal,
    failed?: (plan: CompactionPlan, cause: unknown) => void,
  ): Run | undefined {
    this.#again = false
    if (this.#closing) return undefined
    const plan = this.#host.plan(request)
    if (this.#state.kind === 'failed') this.#state.retry.abort()
    this.#state = { kind: 'idle' }
    if (plan === undefined) return undefined
    const abort = new AbortController()
    const stopForwarding = forwardAbort(signal, abort)
    const done = Promise.resolve().then(async () => {
      const outcome = await this.#run(plan, abort.signal)
      stopForwarding()
      this.#state = { kind: 'idle' }
      if (outcome.kind === 'failed' && !abort.signal.aborted) failed?.(plan, outcome.error)
      else if (this.#again || outcome.kind === 'dropped') this.trigger()
      return outcome
    })
    const run = { plan, done, abort }
    this.#state = { kind: 'running', run }
    return run
  }

  async #run(plan: CompactionPlan, signal: AbortSignal): Promise<Outcome> {
    try {
      const result = await this.#host.run(plan, signal)
      return { kind: result !== undefined && this.#host.land(plan, result) ? 'landed' : 'dropped' }
    } catch (error) {
      return { kind: 'failed', error }
    }
  }
}

const ABORTED = 'The compaction was aborted. Nothing was changed.'

/** The steps of a pick, as Paimon's compaction task takes them. */
export function planOf(
  pick: Pick,
  explanation: Explanation,
  levels: Levels,
  options: Omit<StepOptions, 'outputLevel' | 'maxLevel' | 'upgrade'> & {
    readonly rewriter: Rewriter
    readonly deletionVectors: boolean
    /** See `UpgradeContext`. */
    readonly newestWins: boolean
  },
): CompactionPlan | undefined {
  const { outputLevel } = pick
  const { rewriter, deletionVectors, newestWins } = options
  const dropDelete = dropsDeletes(levels, outputLevel, deletionVectors)
  const maxLevel = levels.numLevels - 1
  const context = { outputLevel, maxLevel, deletionVectors, newestWins, formatDiffers: false }
  const upgrade = (file: DataFile) => decideUpgrade(rewriter, file, context)
  // Expired rows go only where deletes do: see docs/adr/0010.
  const holdsExpired = dropDelete ? options.holdsExpired : undefined
  const steps =
    pick.reason === 'rewrite-files'
      ? rewriteEach(pick.files)
      : planSteps(pick.files, { ...options, holdsExpired, outputLevel, maxLevel, upgrade }, levels.compareKeys)
  if (steps.length === 0) return undefined
  const looksUp = rewriter === 'lookup'
  return {
    pick,
    explanation,
    steps,
    outputLevel,
    dropDelete,
    maxLevel,
    rewriter,
    above: looksUp ? levels.runs.filter((run) => run.level > outputLevel).map((run) => run.files) : [],
    marked: filesOf(levels).filter((file) => file.vector !== undefined),
    seen: looksUp ? upperFiles(levels) : undefined,
  }
}

function closed(): TableError {
  return new TableError('CLOSED', 'The table is closed. Open it again.')
}
