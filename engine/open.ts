import { availableParallelism, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { loadCodecs } from '../formats/compress/load-codecs.ts'
import { createPool } from '../workers/pool.ts'
import { TableError } from './errors.ts'
import { checkCall, shown } from './options/check-call.ts'
import { breathe, nodeClock } from './ports/node-clock.ts'
import { lockFolder, type Release } from './ports/node-folder-lock.ts'
import { createNodeFileSystem } from './ports/node-fs.ts'
import { nodeRandom } from './ports/node-random.ts'
import { withPath } from './store/errors.ts'
import type { TableState } from './table/state.ts'
import { threadContext } from './tasks/context.ts'
import { inlineExecutor } from './tasks/submit.ts'
import { type Logger, Warehouse } from './warehouse.ts'

/** How a warehouse is opened. None of it is stored in a table. */
export interface WarehouseOptions {
  /** `fsync` (default): a commit that has resolved survives a power cut. `none`: it survives the death of the process only. */
  readonly durability?: 'fsync' | 'none'
  /** Creates and locks nothing; works on read-only media. */
  readonly readOnly?: boolean
  /** Takes the lock of the warehouse until it is closed; `LOCKED` when somebody has it. Keeps out only who asks for it, too. */
  readonly exclusive?: boolean
  /** Threads for flushes, compactions and scans; 0 runs them on the caller's thread. Default: one a core, 4 at most. */
  readonly workers?: number
  /** Memory for decoded rows of point lookups, shared by all tables. Default 256 MiB. */
  readonly cacheBytes?: number
  /** Folder of spill files. Default: the system's. */
  readonly tempDir?: string
  readonly logger?: Logger
  readonly signal?: AbortSignal
}

const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024
const MAX_DEFAULT_WORKERS = 4
/** Time a cancelled task has to stop by itself. */
const GRACE_MILLIS = 5000

/** Writing tables of this process, so that two opens of one path share one state. */
const states = new Map<string, Promise<TableState>>()

/** Opens a folder of tables; it is created unless `readOnly`. Nothing else is read, and no thread starts before it is needed. */
export async function openWarehouse(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  check(path, options)
  if (options.signal?.aborted) {
    throw new TableError(
      'ABORTED',
      'Opening was aborted. Call it again without an aborted signal.',
      { path },
      options.signal.reason,
    )
  }
  const { readOnly = false, durability = 'fsync', tempDir = tmpdir() } = options
  const durable = durability === 'fsync'
  const fs = createNodeFileSystem({ sync: durable })
  const folder = resolve(path)
  // With a slash at the end a file is not taken for a folder. One that is there is made durable with the tables in it.
  const stat = await withPath(folder, () => fs.stat(`${folder}/`))
  if (stat === undefined && readOnly) {
    throw new TableError(
      'NOT_FOUND',
      `There is no folder ${folder}. Check the path, or open without readOnly to create it.`,
      { path: folder },
    )
  }
  if (stat === undefined) await withPath(folder, () => fs.makeDirectory(folder))
  const threads = options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS)
  const codecs = loadCodecs()
  const context = { ...threadContext(fs, nodeClock, codecs), pause: breathe }
  const executor =
    threads === 0 ? inlineExecutor(async () => context) : createPool({ threads, graceMillis: GRACE_MILLIS })
  const realPath = await withPath(folder, () => fs.realPath(folder))
  const unlock = options.exclusive === true ? await lock(realPath) : undefined
  return new Warehouse(realPath, {
    fs,
    clock: nodeClock,
    random: nodeRandom,
    codecs,
    executor,
    readOnly,
    durable,
    tempDirectory: resolve(tempDir),
    cacheBytes: options.cacheBytes ?? DEFAULT_CACHE_BYTES,
    states,
    logger: options.logger,
    pause: breathe,
    unlock,
  })
}

async function lock(folder: string): Promise<Release> {
  const unlock = await withPath(folder, () => lockFolder(folder))
  if (unlock !== undefined) return unlock
  throw new TableError(
    'LOCKED',
    `${folder} is open with exclusive, in this process or in another on this machine. Close that first, or open it without exclusive.`,
    { path: folder },
  )
}

const OPTIONS = {
  durability: 'any',
  readOnly: 'flag',
  exclusive: 'flag',
  workers: 'any',
  cacheBytes: 'any',
  tempDir: 'text',
  logger: 'any',
  signal: 'signal',
} as const

function check(path: string, options: WarehouseOptions): void {
  if (typeof path !== 'string' || path === '') {
    throw new TableError('INVALID', `The path of a warehouse is ${shown(path)}: give a folder as text.`, {
      value: path,
    })
  }
  checkCall('openWarehouse', options, OPTIONS)
  const { durability, workers, cacheBytes, logger } = options
  if (options.exclusive === true && options.readOnly === true) {
    throw new TableError('INVALID', 'A warehouse that is opened with readOnly locks nothing. Leave out exclusive.', {
      option: 'exclusive',
      value: true,
    })
  }
  if (durability !== undefined && durability !== 'fsync' && durability !== 'none') {
    throw invalid('durability', durability, "'fsync' or 'none'")
  }
  if (workers !== undefined && (!Number.isInteger(workers) || workers < 0 || workers > 256)) {
    throw invalid('workers', workers, 'a whole number from 0 to 256')
  }
  if (cacheBytes !== undefined && (!Number.isFinite(cacheBytes) || cacheBytes < 0)) {
    throw invalid('cacheBytes', cacheBytes, 'a number of bytes')
  }
  const methods = ['debug', 'info', 'warn', 'error'] as const
  if (logger !== undefined && !methods.every((name) => typeof logger?.[name] === 'function')) {
    throw invalid('logger', logger, `an object with the functions ${methods.join(', ')}`)
  }
}

function invalid(option: string, value: unknown, form: string): TableError {
  return new TableError('INVALID', `${option} is ${shown(value)}: give ${form}.`, { option, value })
}
