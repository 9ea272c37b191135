import { posix } from 'node:path'
import { parseTagName, tagName } from '../../formats/meta/names.ts'
import { parseTag, printTag } from '../../formats/meta/tag.ts'
import type { Tag } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { ifPresent, isMissing, withPath } from './errors.ts'
import { listIfPresent } from './listing.ts'
import { checkName } from './name-rules.ts'
import { type Publisher, publishOnce } from './publish.ts'

/** A file name has 255 bytes, `tag-` and the temporary name around it take some. */
const NAME_BYTES = 200

/**
 * The tags of one branch: copies of snapshots under a name. What a tag names stays until the tag is deleted, also when the
 * snapshot has expired. Nothing is cached: other processes make and delete tags.
 */
export class Tags {
  readonly #publisher: Publisher
  readonly #folder: string

  constructor(publisher: Publisher, folder: string) {
    this.#publisher = publisher
    this.#folder = folder
  }

  path(name: string): string {
    return posix.join(this.#folder, tagName(name))
  }

  /** Names in order of their bytes. */
  async names(): Promise<readonly string[]> {
    const entries = await listIfPresent(this.#publisher.fs, this.#folder)
    return entries
      .flatMap(({ name, kind }) => (kind === 'directory' ? [] : (parseTagName(name) ?? [])))
      .sort((a, b) => (a < b ? -1 : 1))
  }

  /** All tags by snapshot id, then name. A damaged one is an error: what it keeps alive cannot be known. */
  async list(): Promise<readonly Tag[]> {
    const tags: Tag[] = []
    for (const name of await this.names()) {
      const tag = await this.#load(name)
      if (tag !== undefined) tags.push(tag)
    }
    return tags.sort((a, b) => a.snapshot.id - b.snapshot.id)
  }

  /** `NOT_FOUND` when there is no such tag. */
  async read(name: string): Promise<Tag> {
    const tag = await this.find(name)
    if (tag !== undefined) return tag
    const names = await this.names()
    const known = names.length === 0 ? 'the table has no tags' : `there are ${names.slice(0, 10).join(', ')}`
    throw new TableError(
      'NOT_FOUND',
      `There is no tag ${JSON.stringify(name)}: ${known}. Choose one of them, or create it.`,
      {
        path: this.path(name),
        value: name,
      },
    )
  }

  /** Undefined when there is no such tag. */
  async find(name: string): Promise<Tag | undefined> {
    checkTagName(name)
    return this.#load(name)
  }

  /** `EXISTS` when the name is taken, also by a tag of the same snapshot; `INVALID` for a name that could not be a file. */
  async create(tag: Tag): Promise<void> {
    checkTagName(tag.name)
    const path = this.path(tag.name)
    if ((await publishOnce(this.#publisher, path, printTag(tag))) === 'taken') {
      throw new TableError(
        'EXISTS',
        `Tag ${JSON.stringify(tag.name)} exists. Delete it first, or choose another name.`,
        {
          path,
          value: tag.name,
        },
      )
    }
  }

  /** Removes the tag's file, durably; false when there was none. The files that only it named are another matter. */
  async remove(name: string): Promise<boolean> {
    checkTagName(name)
    const path = this.path(name)
    try {
      await withPath(path, () => this.#publisher.fs.unlink(path))
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
    await withPath(this.#folder, () => this.#publisher.fs.syncDirectory(this.#folder))
    return true
  }

  /** Any name that the folder holds, also one that this version would not give. */
  async #load(name: string): Promise<Tag | undefined> {
    const path = this.path(name)
    return ifPresent(() => withPath(path, async () => parseTag(await this.#publisher.fs.readFile(path), name)))
  }
}

function checkTagName(name: string): void {
  checkName('tag', name, { maxBytes: NAME_BYTES })
}
