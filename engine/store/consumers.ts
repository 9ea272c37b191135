import { posix } from 'node:path'
import { corrupt } from '../../formats/bytes/format-error.ts'
import { parseJsonObject } from '../../formats/meta/json.ts'
import { JsonFields } from '../../formats/meta/json-fields.ts'
import { parseConsumerName } from '../../formats/meta/names.ts'
import type { FileSystem } from '../ports/file-system.ts'
import { isMissing, withPath } from './errors.ts'
import { listIfPresent } from './listing.ts'

/** A reader that goes from snapshot to snapshot and has left a mark: `consumer-<name>` = `{"nextSnapshot" : 2}`. */
export interface Consumer {
  readonly name: string
  /** The first snapshot it has not read; it and all after it must stay. */
  readonly nextSnapshot: number
}

/** The consumers of a branch. A damaged mark is an error: what it needs cannot be known. */
export async function readConsumers(fs: FileSystem, folder: string): Promise<readonly Consumer[]> {
  const consumers: Consumer[] = []
  for (const entry of await listIfPresent(fs, folder)) {
    const name = entry.kind === 'directory' ? undefined : parseConsumerName(entry.name)
    if (name === undefined) continue
    const path = posix.join(folder, entry.name)
    try {
      const nextSnapshot = await withPath(path, async () => parseNextSnapshot(await fs.readFile(path)))
      consumers.push({ name, nextSnapshot })
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return consumers
}

function parseNextSnapshot(bytes: Uint8Array): number {
  const fields = new JsonFields(parseJsonObject(bytes, 'consumer'), 'consumer')
  const next = fields.required('nextSnapshot', fields.count)
  if (next < 1) throw corrupt(`consumer: key "nextSnapshot" must be a snapshot id, found ${next}`)
  return next
}
