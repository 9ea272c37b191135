import type { DataFile } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { type ExpiryLimit, isExpired, type RecordExpiry } from '../options/record-expiry.ts'
import { valueBounds } from './bounds.ts'

/**
 * Whether a file holds a row that has expired, by the least value of the time column in its statistics; `fileFields` are the
 * fields it was written with. Without that value: no, as in Paimon. Every full compaction would write such a file again.
 */
export function holdsExpired(
  file: DataFile,
  { field }: RecordExpiry,
  limit: ExpiryLimit,
  fileFields: readonly Field[],
): boolean {
  const min = valueBounds(file, fileFields, [field])(field.name)?.min
  return min !== undefined && min !== null && isExpired(limit, min)
}
