import { readdirSync, readFileSync } from 'node:fs'
import type { Codecs } from '../../../formats/compress/codec.ts'
import { decodeManifest } from '../../../formats/meta/manifest.ts'
import { decodeManifestList } from '../../../formats/meta/manifest-list.ts'
import { parseSchema } from '../../../formats/meta/schema.ts'
import { parseSnapshot } from '../../../formats/meta/snapshot.ts'
import type { ManifestEntry, Snapshot, TableSchema } from '../../../formats/meta/types.ts'

const golden = new URL('../../golden/', import.meta.url)
const tables = new URL('warehouse/golden.db/', golden)

/** Names of the tables that Paimon wrote. */
export const cases: readonly string[] = readdirSync(tables).sort()

/** Files in a folder of a table, by name, whose names start with one of the prefixes. */
export function filesOf(
  table: string,
  folder: string,
  ...prefixes: readonly string[]
): [name: string, bytes: Uint8Array][] {
  const url = new URL(`${table}/${folder}/`, tables)
  let names: string[]
  try {
    names = readdirSync(url).sort()
  } catch {
    return []
  }
  const wanted = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  return wanted.map((name) => [name, new Uint8Array(readFileSync(new URL(name, url)))])
}

export function fileOf(table: string, folder: string, name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${table}/${folder}/${name}`, tables)))
}

/** What Paimon says of a table: the parsed JSON, undefined when there is none of that name. */
export function expected(table: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(new URL(`expect/${table}/${name}.json`, golden), 'utf8'))
  } catch {
    return undefined
  }
}

export function latestSnapshot(table: string): Snapshot {
  const id = readFileSync(new URL(`${table}/snapshot/LATEST`, tables), 'utf8')
  return parseSnapshot(fileOf(table, 'snapshot', `snapshot-${id}`))
}

export function schemasOf(table: string): Map<number, TableSchema> {
  return new Map(
    filesOf(table, 'schema', 'schema-')
      .map(([, bytes]) => parseSchema(bytes))
      .map((s) => [s.id, s]),
  )
}

/** Entries of the latest snapshot that are live: added and not deleted again. */
export function liveEntries(table: string, codecs: Codecs): ManifestEntry[] {
  const { baseManifestList, deltaManifestList } = latestSnapshot(table)
  const live = new Map<string, ManifestEntry>()
  for (const list of [baseManifestList, deltaManifestList]) {
    for (const { name } of decodeManifestList(fileOf(table, 'manifest', list), codecs)) {
      for (const entry of decodeManifest(fileOf(table, 'manifest', name), codecs)) {
        const key = `${entry.file.name} at level ${entry.file.level}`
        if (entry.kind === 'delete') live.delete(key)
        else live.set(key, entry)
      }
    }
  }
  return [...live.values()]
}
