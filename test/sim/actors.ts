import { isTableError } from '../../engine/errors.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import type { Random } from '../../engine/ports/random.ts'
import { Pins } from '../../engine/store/pins.ts'
import type { TableStore } from '../../engine/store/table-store.ts'
import type { Table } from '../../engine/table/table.ts'
import { createTag, deleteTag } from '../../engine/upkeep/tagging.ts'
import type { Write } from '../model/history.ts'
import type { Ledger } from './ledger.ts'
import { contentOf, difference, LANE_KEYS, type SimRow, type TableShape, withPartition } from './tables.ts'

/** What an actor works with: one handle of one process, and dice of its own. */
export interface Stage {
  readonly shape: TableShape
  readonly ledger: Ledger
  readonly random: Random
  readonly table: Table
  readonly process: number
  /** Lets the others go on. */
  readonly pause: () => Promise<void>
}

const below = (random: Random, count: number) => Math.floor(random.fraction() * count)

/** Writes to the keys of its lane and commits now and then. `version` gives numbers that no other write has. */
export async function writer(stage: Stage, lane: number, rounds: number, version: () => number): Promise<void> {
  const { shape, ledger, random, table, process } = stage
  for (let round = 0; round < rounds; round++) {
    await stage.pause()
    if (random.fraction() < 0.6) {
      const { mutations, changes } = draw(shape, random, lane, version)
      ledger.wrote(lane, process, changes)
      await table.write(mutations as never)
    } else await commit(stage, lane)
  }
  await commit(stage, lane)
}

async function commit({ ledger, table, process }: Stage, lane: number): Promise<void> {
  const writes = ledger.writes(lane, process)
  try {
    const { snapshots } = await table.commit()
    ledger.committed(lane, process, writes, snapshots.at(-1)?.id)
  } catch (error) {
    // Too many others were faster: its rows are kept.
    if (!isTableError(error, 'CONFLICT')) throw error
  }
}

function draw(shape: TableShape, random: Random, lane: number, version: () => number) {
  const changes: (readonly [number, number | undefined])[] = []
  const key = () => lane * LANE_KEYS + below(random, LANE_KEYS)
  const mutations = Array.from({ length: 1 + below(random, 3) }, () => {
    const k = key()
    if (shape.kind !== 'partial-update' && random.fraction() < 0.3) {
      changes.push([2 * k, undefined], [2 * k + 1, undefined])
      return { delete: withPartition(shape, { k }) }
    }
    const partial = shape.kind === 'partial-update' ? below(random, 3) : 2
    const [a, b] = [partial === 1 ? null : version(), partial === 0 ? null : version()]
    if (a !== null) changes.push([2 * k, a])
    if (b !== null) changes.push([2 * k + 1, b])
    return { put: withPartition(shape, { k, a, b }) }
  })
  return { mutations, changes: changes satisfies Write['changes'] }
}

/** Compacts, at times everything. */
export async function compactor({ random, table, pause }: Stage, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let wait = below(random, 40); wait > 0; wait--) await pause()
    await table.compact({ full: random.fraction() < 0.5 })
  }
}

/** Ends old snapshots, and looks for files that nobody names: all of them are too young to go. */
export async function expirer({ random, table, pause }: Stage, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let wait = below(random, 80); wait > 0; wait--) await pause()
    if (random.fraction() < 0.3) await table.removeOrphans()
    await table.expireSnapshots({ retainMax: 1 + below(random, 5) })
  }
}

/** Gives snapshots names and takes them away, as a process of its own. */
export async function tagger(
  { ledger, random, pause }: Omit<Stage, 'table'>,
  store: TableStore,
  clock: Clock,
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let wait = below(random, 60); wait > 0; wait--) await pause()
    const name = `t${below(random, 3)}`
    try {
      if (random.fraction() < 0.6) {
        const back = below(random, 3)
        const snapshot = Math.max(1, ledger.latest - back)
        if (ledger.latest === 0) continue
        await createTag(store, clock, name, { snapshot })
        ledger.tagged(name)
      } else {
        ledger.untagging(name)
        await deleteTag(store, new Pins(), name)
      }
    } catch (error) {
      if (!isTableError(error) || !['EXISTS', 'EXPIRED', 'NOT_FOUND'].includes(error.code)) throw error
    }
  }
}

/**
 * Scans snapshots slowly: whatever happens meanwhile, each gives exactly what one snapshot holds. A handle that writes is asked for snapshots
 * by their number, since else it adds what is not committed; one that only reads is at times asked for the newest.
 */
export async function scanner(
  { ledger, random, table, process, pause }: Stage,
  rounds: number,
  writes: boolean,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let wait = below(random, 30); wait > 0; wait--) await pause()
    const first = ledger.latest
    if (first === 0) continue
    const chosen = writes || random.fraction() < 0.5 ? Math.max(1, first - below(random, 4)) : undefined
    const rows: SimRow[] = []
    let asked = first
    try {
      const scan = table.scan(chosen === undefined ? {} : { snapshot: chosen })
      for (;;) {
        const { done, value } = await scan.next()
        asked = ledger.latest
        if (done === true) break
        rows.push(value as SimRow)
        for (let wait = below(random, 12); wait > 0; wait--) await pause()
      }
    } catch (error) {
      const gone =
        isTableError(error) && (['EXPIRED', 'NOT_FOUND'].includes(error.code) || error.details.missing === true)
      if (!gone) throw error
      if (ledger.mayBeGone(chosen ?? first, process)) continue
      if (chosen !== undefined && !ledger.isLive(chosen) && rows.length === 0) continue
      throw new Error(`process ${process} lost snapshot ${chosen ?? `${first} or later`} that it was reading`, {
        cause: error,
      })
    }
    ledger.counts.scans++
    const content = contentOf(rows)
    const ids = chosen === undefined ? Array.from({ length: asked - first + 1 }, (_, at) => first + at) : [chosen]
    const differences = ids.map((id) => difference(ledger.shown(id) ?? new Map(), content))
    if (differences.every((one) => one !== undefined)) {
      throw new Error(`a scan of ${process} gave no snapshot of ${ids.join(', ')}: ${differences[0]}`)
    }
  }
}
