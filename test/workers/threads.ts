import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeClock } from '../../dist/engine/ports/node-clock.js'
import { createNodeFileSystem } from '../../dist/engine/ports/node-fs.js'
import { nodeRandom } from '../../dist/engine/ports/node-random.js'
import { Warehouse } from '../../dist/engine/warehouse.js'
import { loadCodecs } from '../../dist/formats/compress/load-codecs.js'
import { createPool, type PoolOptions } from '../../dist/workers/pool.js'

/** Thread side that fails on demand; see there. */
const faultyEntry = new URL('./faulty-entry.mjs', import.meta.url)

/** Everything in these tests is the compiled library: threads cannot load the TypeScript source. */
export type Fault = 'exit' | 'deaf' | 'memory' | 'crash'

export interface Place {
  readonly path: string
  readonly temp: string
  /** Makes the next task of a kind fail. */
  readonly plant: (kind: 'flush' | 'compact' | 'read' | 'sort', fault: Fault) => void
}

export function placeIn(folder: string): Place {
  const [path, temp] = [join(folder, 'warehouse'), join(folder, 'temp')]
  mkdirSync(path)
  mkdirSync(temp)
  return { path, temp, plant: (kind, fault) => writeFileSync(join(temp, `fault-${kind}`), fault) }
}

/** A warehouse on a pool of threads that fail on demand. It shares no state with others. */
export function openFaulty(place: Place, options: Partial<PoolOptions> = {}): Warehouse {
  return new Warehouse(place.path, {
    smallTasks: false,
    fs: createNodeFileSystem({ sync: false }),
    clock: nodeClock,
    random: nodeRandom,
    codecs: loadCodecs(),
    executor: createPool({ threads: 2, graceMillis: 100, entry: faultyEntry, ...options }),
    readOnly: false,
    durable: false,
    tempDirectory: place.temp,
    cacheBytes: 1 << 20,
    states: new Map(),
    logger: undefined,
  })
}
