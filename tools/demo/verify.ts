import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Expected, ExpectedRequest } from './expected.ts'
import { type Fingerprint, FingerprintBuilder } from './fingerprint.ts'
import type { FlightsTable } from './flights-table.ts'

/** 224 are enough. Without a limit V8 lets garbage of the reader pile up: 600 MB of memory at the peak instead of 460. */
const HEAP_MEGABYTES = 320

/** The independent computation at work in a process of its own. */
export interface RunningComputation {
  readonly answer: Promise<Expected>
  stop(): void
}

/** Starts the computation of expected.ts, which shares the two cores with the load. */
export function startComputation(request: ExpectedRequest): RunningComputation {
  // Compiled or not, the program is the neighbour of this file with the same ending.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const program = fileURLToPath(new URL(`./expected.${extension}`, import.meta.url))
  const child = fork(program, [JSON.stringify(request)], {
    execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MEGABYTES}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const answer = answerOf(child)
  // It is awaited after the load; a failure before that must wait for it, too.
  answer.catch(() => undefined)
  return { answer, stop: () => void child.kill() }
}

function answerOf(child: ChildProcess): Promise<Expected> {
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Expected))
    child.once('error', reject)
    child.once('close', (code, signal) =>
      reject(new Error(`the independent computation ended with ${signal ?? `exit code ${code}`}\n${errors}`.trim())),
    )
  })
}

/** Reads every row of the table as it is on disk. */
export async function fingerprintOf(table: FlightsTable, signal: AbortSignal): Promise<Fingerprint> {
  const builder = new FingerprintBuilder()
  for await (const { origin, destination, date, delay, distance } of table.scan({ ordered: false, signal })) {
    builder.add(origin, destination, date, delay, distance)
  }
  return builder.finish()
}

/** Rows that the table had at a snapshot. */
export async function countRows(table: FlightsTable, snapshot: number, signal: AbortSignal): Promise<number> {
  let rows = 0
  for await (const batch of table.scanArrow({ columns: ['delay'], snapshot, ordered: false, signal })) {
    rows += batch.numRows
  }
  return rows
}
