import { corrupt } from '../bytes/format-error.ts'
import { parseJsonObject } from './json.ts'
import { JsonFields } from './json-fields.ts'
import { printJson } from './json-print.ts'
import { snapshotJson, snapshotKeys, snapshotOf } from './snapshot.ts'
import type { Tag } from './types.ts'

const knownKeys: ReadonlySet<string> = new Set([...snapshotKeys, 'tagCreateTime', 'tagTimeRetained'])

/** Year, month, day, hour, minute; then second and nanosecond, which may be missing when zero. */
const MIN_TIME_PARTS = 5
const MAX_TIME_PARTS = 7

/**
 * Reads a tag file: a snapshot, and for tags with a retention time the local time of creation and the retention
 * (docs/format/tag.md). The name is that of the file. Throws like `parseSnapshot`.
 */
export function parseTag(bytes: Uint8Array, name: string): Tag {
  const json = parseJsonObject(bytes, 'tag')
  const fields = new JsonFields(json, 'tag')
  const createTime = fields.array('tagCreateTime')
  if (createTime !== undefined && !isTime(createTime)) {
    throw corrupt('tag: key "tagCreateTime" must be [year, month, day, hour, minute, second, nanosecond]')
  }
  const timeRetainedSeconds = fields.number('tagTimeRetained')
  return {
    name,
    snapshot: snapshotOf(json, 'tag', knownKeys),
    ...(createTime === undefined ? {} : { createTime }),
    ...(timeRetainedSeconds === undefined ? {} : { timeRetainedSeconds }),
  }
}

/** The bytes of a tag file. Without retention they are those of the snapshot. */
export function printTag(tag: Tag): Uint8Array {
  const json = snapshotJson(tag.snapshot)
  return printJson({ ...json, tagCreateTime: tag.createTime, tagTimeRetained: tag.timeRetainedSeconds })
}

function isTime(parts: readonly unknown[]): parts is readonly number[] {
  return (
    parts.length >= MIN_TIME_PARTS &&
    parts.length <= MAX_TIME_PARTS &&
    parts.every((part) => Number.isSafeInteger(part))
  )
}
