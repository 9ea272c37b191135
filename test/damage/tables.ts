import { t as types } from '../../engine/index.ts'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { createTag } from '../../engine/upkeep/tagging.ts'
import { manualClock } from '../support/manual-clock.ts'
import { allFiles } from '../support/table-files.ts'
import { collect, openAlone, storeOf } from '../support/warehouses.ts'

/** A small table in memory that is damaged file by file. */
export interface Subject {
  readonly name: string
  readonly fs: MemoryFileSystem
  /** Absolute paths of its files. */
  readonly files: readonly string[]
  /** All that reads give of the table: opened afresh. Throws what the reads throw. */
  read(): Promise<Reading>
}

/** What each kind of read gives; an error stands in the place of its result. */
export type Reading = Readonly<Record<string, unknown>>

const FOLDER = '/w/db.db/t'
const CLOCK = 1_700_000_000_000

/** Options by the name of a table: between them, files of every kind. */
const shapes: Record<string, Record<string, string | number | boolean>> = {
  plain: { bucket: 2, 'num-sorted-run.compaction-trigger': 3 },
  vectors: {
    'deletion-vectors.enabled': true,
    'changelog-producer': 'lookup',
    'changelog.num-retained.min': 20,
    'changelog.num-retained.max': 20,
    'num-sorted-run.compaction-trigger': 3,
  },
}

export const subjectNames: readonly string[] = Object.keys(shapes)

/** Makes a table: several commits, a compaction, a tag, a consumer, an expiry. The same bytes each time but for UUIDs. */
export async function makeSubject(name: string): Promise<Subject> {
  const clock = manualClock(CLOCK)
  const fs = createMemoryFileSystem({ now: clock.now })
  await fs.makeDirectory('/w')
  const warehouse = openAlone('/w', { fs, clock })
  const table = await warehouse.createTable('db.t', {
    fields: { k: types.int(), s: types.string().nullable(), v: types.bigint({ mode: 'number' }) },
    primaryKey: ['k'],
    options: shapes[name]!,
  })
  for (let round = 0; round < 6; round++) {
    const keys = Array.from({ length: 30 }, (_, i) => (i * 7 + round * 11) % 60)
    await table.put(keys.map((k) => ({ k, s: k % 5 === 0 ? null : `text ${k % 9} of ${round}`, v: round * 1000 + k })))
    if (round > 2) await table.delete([{ k: round }, { k: 40 + round }])
    await table.commit()
    if (round === 3) await table.compact({ full: true })
    if (round === 4) {
      await createTag(await storeOf('/w', 'db', 't', fs), clock, 'fourth')
      for await (const _ of table.changes({ from: 1 })) break
    }
  }
  const follow = table.follow({ consumer: 'reader', initial: true })
  for await (const _ of follow) break
  await table.put({ k: 59, s: 'last', v: -1 })
  await table.commit()
  await table.expireSnapshots({ retainMax: 4 })
  await warehouse.close()
  const { snapshots } = await storeOf('/w', 'db', 't', fs)
  const ids = { earliest: (await snapshots.earliestId())!, latest: (await snapshots.latestId())! }
  const read = () => readAll(fs, ids)
  // The first read loads what is loaded once.
  await read()
  return { name, fs, files: (await allFiles(fs, FOLDER)).filter((path) => !path.endsWith('.tmp')), read }
}

async function readAll(
  fs: MemoryFileSystem,
  ids: { readonly earliest: number; readonly latest: number },
): Promise<Reading> {
  const warehouse = openAlone('/w', { fs, readOnly: true, clock: manualClock(CLOCK) })
  const reading: Record<string, unknown> = {}
  const part = async (name: string, run: () => Promise<unknown>) => {
    try {
      reading[name] = await run()
    } catch (error) {
      reading[name] = error
    }
  }
  try {
    const table = await warehouse.table('db.t')
    await part('scan', () => collect(table.scan()))
    await part('one column', () => collect(table.scan({ columns: ['v'] })))
    await part('where', () => collect(table.scan({ where: { v: { gte: 5000n } } } as never)))
    await part('get', () => table.getMany(Array.from({ length: 62 }, (_, k) => ({ k }))))
    await part('changes', async () => {
      const found = []
      for await (const { snapshot, kinds, rows } of table.changes({ from: ids.earliest }))
        found.push({ snapshot, kinds: [...kinds], rows })
      return found
    })
    await part('older', async () => collect(table.scan({ snapshot: ids.latest - 1 })))
  } catch (error) {
    reading.open = error
  } finally {
    await warehouse.close()
  }
  return reading
}
