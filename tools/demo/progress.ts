import { formatBar, formatCount, formatSeconds } from './format.ts'
import type { Terminal } from './terminal.ts'

export interface ProgressState {
  readonly label: string
  readonly rows: number
  readonly total: number
  readonly seconds: number
  /** Compactions at work now. */
  readonly running: number
}

const REDRAW_MILLIS = 100
const LINE_MILLIS = 5000

/** Rows, rows a second, running compactions and the time left, in one line. */
function progressText({ rows, total, seconds, running }: ProgressState): string {
  const rate = seconds > 0 ? rows / seconds : 0
  const percent = total === 0 ? 100 : Math.floor((rows / total) * 100)
  const left = rate > 0 ? formatSeconds((total - rows) / rate) : '?'
  return [
    `${String(percent).padStart(3)} %`,
    `${formatCount(rows)} rows`,
    `${formatCount(rate)} rows/s`,
    `${running} compacting`,
    rows < total ? `ETA ${left}` : formatSeconds(seconds),
  ].join('  ')
}

/** The same with a bar in what is left of `width`; the bar goes first, then the end of the text. */
export function progressBar(state: ProgressState, width: number): string {
  const text = `${state.label} ${progressText(state)}`
  const room = width - text.length - 3
  if (room < 8) return text.slice(0, width)
  const cells = Math.min(30, room)
  const share = state.total === 0 ? 1 : state.rows / state.total
  return `${state.label} ▕${formatBar(share, cells).padEnd(cells)}▏${progressText(state)}`
}

/** Progress of one load. On a terminal one line that is drawn over; elsewhere a line every few seconds. */
export class Progress {
  readonly #terminal: Terminal
  readonly #label: string
  readonly #total: number
  readonly #running: () => number
  readonly #now: () => number
  readonly #start: number
  #shown: number

  constructor(
    terminal: Terminal,
    options: {
      readonly label: string
      readonly total: number
      readonly running: () => number
      /** Milliseconds of a clock that does not jump. */
      readonly now?: () => number
    },
  ) {
    this.#terminal = terminal
    this.#label = options.label
    this.#total = options.total
    this.#running = options.running
    this.#now = options.now ?? (() => performance.now())
    this.#start = this.#now()
    // A terminal shows the bar at once, a log its first line after a while.
    this.#shown = terminal.interactive ? Number.NEGATIVE_INFINITY : this.#start
  }

  get seconds(): number {
    return (this.#now() - this.#start) / 1000
  }

  update(rows: number): void {
    const now = this.#now()
    if (now - this.#shown < (this.#terminal.interactive ? REDRAW_MILLIS : LINE_MILLIS)) return
    this.#shown = now
    this.#show(rows)
  }

  /** The last state, which stays. */
  finish(rows: number): void {
    this.#show(rows)
    if (this.#terminal.interactive) this.#terminal.write('\n')
  }

  #show(rows: number): void {
    const state: ProgressState = {
      label: this.#label,
      rows,
      total: this.#total,
      seconds: this.seconds,
      running: this.#running(),
    }
    const { interactive, width } = this.#terminal
    // The last column stays free: some terminals wrap as soon as it is filled.
    if (interactive) this.#terminal.write(`\r${progressBar(state, width - 1)}\u001b[K`)
    else this.#terminal.write(`${this.#label} ${progressText(state)}\n`)
  }
}
