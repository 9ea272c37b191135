import type { FailureEvent } from '../../engine/index.ts'
import type { FlightsTable } from './flights-table.ts'

/** Adds up what compactions did in the background, and counts those at work. */
export class CompactionWatch {
  readonly #running = new Set<string>()
  readonly #failures: FailureEvent[] = []
  compactions = 0
  inputBytes = 0
  outputBytes = 0
  upgradedFiles = 0
  stalls = 0

  constructor(table: FlightsTable) {
    const place = ({ partition, bucket }: { readonly partition: string; readonly bucket: number }) =>
      `${partition}/${bucket}`
    table.on('compactionStart', (event) => this.#running.add(place(event)))
    table.on('compaction', (event) => {
      this.#running.delete(place(event))
      this.compactions++
      this.inputBytes += event.inputBytes
      this.outputBytes += event.outputBytes
      this.upgradedFiles += event.upgraded.length
    })
    table.on('conflict', (event) => this.#running.delete(place(event)))
    table.on('stall', () => this.stalls++)
    table.on('failure', (event) => this.#failures.push(event))
  }

  get running(): number {
    return this.#running.size
  }

  /** Throws the first failure in the background: the engine would try again, a demo should not hide it. */
  check(): void {
    const failure = this.#failures[0]
    if (failure !== undefined) throw failure.error
  }
}
