import { posix } from 'node:path'
import { corrupt } from '../../formats/bytes/format-error.ts'
import { parseJsonObject } from '../../formats/meta/json.ts'
import { JsonFields } from '../../formats/meta/json-fields.ts'
import { consumerName, parseConsumerName } from '../../formats/meta/names.ts'
import type { FileSystem } from '../ports/file-system.ts'
import { ifPresent, withPath } from './errors.ts'
import { listIfPresent } from './listing.ts'
import { checkName } from './name-rules.ts'
import { type Publisher, replace } from './publish.ts'

/** A reader that goes from snapshot to snapshot and has left a mark: `consumer-<name>` = `{"nextSnapshot" : 2}`. */
export interface Consumer {
  readonly name: string
  /** The first snapshot it has not read; it and all after it must stay. */
  readonly nextSnapshot: number
}

/** What the file of a consumer says. */
export interface Mark extends Pick<Consumer, 'nextSnapshot'> {
  /** The snapshot whose rows come first, as long as they have not all been taken. Other engines pass over it. */
  readonly initialSnapshot?: number | undefined
}

/** The files of the consumers of a branch. */
export async function consumerFiles(
  fs: FileSystem,
  folder: string,
): Promise<readonly { readonly name: string; readonly path: string }[]> {
  return (await listIfPresent(fs, folder)).flatMap((entry) => {
    const name = entry.kind === 'directory' ? undefined : parseConsumerName(entry.name)
    return name === undefined ? [] : [{ name, path: posix.join(folder, entry.name) }]
  })
}

/** Leaves room in 255 bytes for `consumer-` and for what a temporary name adds. */
const NAME_BYTES = 200

/** Path of the mark of a consumer; `INVALID` for a name that no file can have. */
export function consumerPath(folder: string, name: string): string {
  checkName('consumer', name, { maxBytes: NAME_BYTES })
  return posix.join(folder, consumerName(name))
}

/** How far a consumer came; undefined when it has left no mark. A damaged mark is an error: what it needs cannot be known. */
export async function readConsumer(fs: FileSystem, path: string): Promise<Mark | undefined> {
  return ifPresent(() => withPath(path, async () => parseMark(await fs.readFile(path))))
}

/** Leaves the mark of a consumer in one step. */
export async function writeConsumer(publisher: Publisher, path: string, mark: Mark): Promise<void> {
  const { nextSnapshot, initialSnapshot } = mark
  const initial = initialSnapshot === undefined ? '' : `,\n  "initialSnapshot" : ${initialSnapshot}`
  await replace(publisher, path, new TextEncoder().encode(`{\n  "nextSnapshot" : ${nextSnapshot}${initial}\n}`))
}

function parseMark(bytes: Uint8Array): Mark {
  const fields = new JsonFields(parseJsonObject(bytes, 'consumer'), 'consumer')
  const next = fields.required('nextSnapshot', fields.count)
  if (next < 1) throw corrupt(`consumer: key "nextSnapshot" must be a snapshot id, found ${next}`)
  return { nextSnapshot: next, initialSnapshot: fields.count('initialSnapshot') }
}
