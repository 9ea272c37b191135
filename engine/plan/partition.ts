import type { Scalar } from '../../formats/column/column.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { splitTimestamp, valueText } from '../../formats/types/value-text.ts'
import { TableError } from '../errors.ts'

/** The table options that name partition folders. */
export interface PartitionNaming {
  /** `partition.default-name`: stands for null, empty and blank values. */
  readonly defaultName: string
  /** `partition.legacy-name`: plain internal values (DATE as a day count) instead of readable ones. */
  readonly legacyName: boolean
}

/** A serialised partition row → relative folder, `dt=2024-01-01/hr=7`; empty for a table without partition keys. */
export type PartitionPath = (partition: Uint8Array) => string

/**
 * How the partitions of a table are laid out in folders, a level a partition key. Folder names are for people: null, '' and
 * blank text share one, and readers take the values from manifests. Throws `FormatError` CORRUPT when a row is not of the
 * partition's types.
 */
export function partitionPaths(fields: readonly Field[], naming: PartitionNaming): PartitionPath {
  const types = fields.map((field) => field.type)
  const keys = fields.map((field) => escapePathName(field.name))
  return (partition) => {
    const values = deserializeRow(types, partition)
    return keys
      .map((key, i) => named(fields[i]!, `${key}=${escapePathName(partitionText(fields[i]!, values[i]!, naming))}`))
      .join('/')
  }
}

/** Bytes of a folder name that file systems take. */
const MOST_NAME_BYTES = 255

function named(field: Field, name: string): string {
  if (Buffer.byteLength(name) <= MOST_NAME_BYTES) return name
  throw new TableError(
    'INVALID',
    `A value of partition column ${JSON.stringify(field.name)} makes a folder name of ${Buffer.byteLength(name)} bytes, and ${MOST_NAME_BYTES} is the most. Give a shorter one.`,
    { column: field.name, value: name.slice(0, 64) },
  )
}

/** Unescaped text of one partition value, the default name for null, empty and blank ones. */
function partitionText(field: Field, value: Scalar | null, naming: PartitionNaming): string {
  if (value === null) return naming.defaultName
  const text = naming.legacyName ? legacyText(field, value) : valueText(field.type, value)
  return isBlank(text) ? naming.defaultName : text
}

/** Java's string of the internal value: times of day and dates as numbers, timestamps as ISO text without needless zeros. */
function legacyText(field: Field, value: Scalar): string {
  const { type } = field
  switch (type.kind) {
    case 'date':
    case 'time':
      return String(value)
    case 'timestamp':
    case 'timestamp_ltz': {
      const { millisOfDay, nanosOfMilli } = splitTimestamp(type.precision, value as bigint)
      const nanosOfSecond = (millisOfDay % 1_000) * 1_000_000 + nanosOfMilli
      const [date = '', clock = ''] = valueText(type, value).split(' ')
      const [time = ''] = clock.split('.')
      if (nanosOfSecond !== 0) return `${date}T${time}.${isoFraction(nanosOfSecond)}`
      return `${date}T${time.endsWith(':00') ? time.slice(0, -3) : time}`
    }
    default:
      return valueText(type, value)
  }
}

/** Three, six or nine digits, as few as hold the value. */
function isoFraction(nanosOfSecond: number): string {
  const digits = String(nanosOfSecond).padStart(9, '0')
  if (digits.endsWith('000000')) return digits.slice(0, 3)
  return digits.endsWith('000') ? digits.slice(0, 6) : digits
}

/** Characters that Hive, and so Paimon, writes as `%XX`, beside the control characters; everything outside ASCII stays. */
const ESCAPED = new Set('"#%\'*/:=?\\{}[]^')

/** One key or value as a part of a folder name. Throws INVALID for empty text, which no folder can stand for. */
export function escapePathName(text: string): string {
  if (text === '') {
    throw new TableError('INVALID', 'A partition key or value is empty text: give it a name.', { value: text })
  }
  let escaped = ''
  for (const character of text) {
    const code = character.charCodeAt(0)
    const plain = code >= 0x20 && code !== 0x7f && !ESCAPED.has(character)
    escaped += plain ? character : `%${code.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return escaped
}

/** Only white space as Java sees it: unlike `trim`, a no-break space is text and the separators 0x1C to 0x1F are not. */
function isBlank(text: string): boolean {
  for (const character of text) {
    const code = character.charCodeAt(0)
    if (code >= 0x1c && code <= 0x1f) continue
    if (character.trim() !== '' || code === 0xa0 || code === 0x2007 || code === 0x202f || code === 0xfeff) return false
  }
  return true
}
