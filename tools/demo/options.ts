import { parseArgs } from 'node:util'

/** What a run of the demo is asked for. */
export interface DemoOptions {
  /** Rows of the data set to take, from its start. */
  readonly rows: number
  /** Folder of the warehouse; undefined = a new one among the temporary files. */
  readonly dir: string | undefined
  readonly keep: boolean
  /** Load nothing: compare the table that an earlier run left in `dir`. */
  readonly verifyOnly: boolean
  readonly seed: number
  /** Threads of the engine; undefined = its own choice. */
  readonly workers: number | undefined
}

export const usage = `usage: npm run demo -- [options]

Upserts three million flights into a table, corrects and deletes some, compacts, reads, expires old snapshots,
and compares the result with an independent computation.

  --rows N      take only the first N rows of the data set
  --dir PATH    make the warehouse in this folder, which must be new or empty, and keep it
  --keep        keep the temporary folder
  --verify      only compare the table in --dir with the data set; --rows and --seed as when it was made
  --seed N      chooses the rows of the second wave (default 1)
  --workers N   threads of the engine; 0 = none
  --help        show this text

Exit code 0: the table is right. 1: it is not, or something failed. 2: wrong usage. 130: interrupted.
`

/** A command line that cannot be followed; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The options of a command line; undefined when it asks for help. Throws a `UsageError`. */
export function parseOptions(args: readonly string[]): DemoOptions | undefined {
  const values = parse(args)
  if (values.help === true) return undefined
  if (values.verify === true && values.dir === undefined) throw new UsageError('--verify needs --dir')
  return {
    rows: whole('--rows', values.rows, 1) ?? Number.POSITIVE_INFINITY,
    dir: values.dir,
    keep: values.keep === true || values.dir !== undefined,
    verifyOnly: values.verify === true,
    seed: whole('--seed', values.seed, 0) ?? 1,
    workers: whole('--workers', values.workers, 0),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rows: { type: 'string' },
        dir: { type: 'string' },
        keep: { type: 'boolean' },
        verify: { type: 'boolean' },
        seed: { type: 'string' },
        workers: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function whole(option: string, text: string | undefined, min: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text.replaceAll('_', ''))
  if (/^[\d_]+$/.test(text) && Number.isSafeInteger(value) && value >= min) return value
  throw new UsageError(`${option} ${text}: give a whole number from ${min} on`)
}
