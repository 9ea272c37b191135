import { TableError } from '../errors.ts'
import type { Option } from './option.ts'
import { findOption } from './registry.ts'
import { canonicalTexts, parseOr, type StoredOptions } from './resolve.ts'

/**
 * `INVALID` when a definition says otherwise than the table what its rows are: by an option that it sets, or, `complete`, by leaving out the
 * merge engine. Options of files, compaction and retention may differ.
 */
export function checkSameRows(table: string, stored: StoredOptions, defined: StoredOptions, complete: boolean): void {
  const [there, wanted] = [canonicalTexts(stored), canonicalTexts(defined)]
  const keys = new Set([...(complete ? ['merge-engine'] : []), ...wanted.keys()])
  for (const key of keys) {
    const option = findOption(key)
    if (option?.affects !== 'read') continue
    const [expected, actual] = [there, wanted].map((texts) => printed(key, option, texts.get(key)))
    if (expected === actual) continue
    throw new TableError(
      'INVALID',
      `Table ${table} exists with ${shown(key, expected)}, the definition says ${shown(key, actual)}. Change the definition, or choose another name.`,
      { table, option: key, expected, actual },
    )
  }
}

/** One text for all that means the same; undefined = not set, without a default. */
function printed(key: string, option: Option, text: string | undefined): string | undefined {
  const value = parseOr(key, option, text)
  return value === undefined ? undefined : option.kind.print(value)
}

function shown(key: string, value: string | undefined): string {
  return value === undefined ? `no ${key}` : `${key} ${value}`
}
