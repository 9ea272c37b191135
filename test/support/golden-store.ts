import type { MemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { openTableStore, type TableStore } from '../../engine/store/table-store.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { goldenInMemory } from './golden.ts'
import { seededRandom } from './seeded-random.ts'

const codecs = loadCodecs()

/** Stores give out different names, as processes do, and the same ones in each run of a test. */
let opened = 0

/** A copy of a golden table in memory, opened. */
export function goldenStore(name: string): { readonly fs: MemoryFileSystem; readonly store: TableStore } {
  const { fs, table } = goldenInMemory(name)
  return { fs, store: openTableStore({ fs, random: seededRandom(++opened) }, codecs, table) }
}

/** A store over another file system of the same table: one wrapped, or one after a power cut. */
export function storeOver(fs: MemoryFileSystem | TableStore['fs'], table: string): TableStore {
  return openTableStore({ fs, random: seededRandom(++opened) }, codecs, table)
}
