import { commitOptions, retentionOptions } from './groups/commit.ts'
import { changelogOptions, compactionOptions } from './groups/compaction.ts'
import { fileOptions, filePatternOptions } from './groups/files.ts'
import { readingOptions } from './groups/reading.ts'
import { fieldOptions, shapeOptions } from './groups/shape.ts'
import type { Option, Used } from './option.ts'

/** Every table option that Paimon gives a local primary-key table, by key. Defaults are those of Paimon 1.4.2. */
export const registry = {
  ...shapeOptions,
  ...fileOptions,
  ...commitOptions,
  ...compactionOptions,
  ...changelogOptions,
  ...retentionOptions,
  ...readingOptions,
}

/** Options whose key holds names of columns or index types, written `<f>`, by pattern. */
export const patterns = { ...fieldOptions, ...filePatternOptions }

type Registry = typeof registry

/** Values of all options that the engine obeys. */
export type UsedValues = {
  readonly [K in keyof Registry as Registry[K] extends { use: 'used' } ? K : never]: Registry[K] extends Used<
    infer T,
    infer D
  >
    ? D extends undefined
      ? T | undefined
      : T
    : never
}

/** Groups of the option reference, in order. */
export const groups: readonly { readonly title: string; readonly options: Readonly<Record<string, Option>> }[] = [
  { title: 'Table', options: { ...shapeOptions, ...fieldOptions } },
  { title: 'Files', options: { ...fileOptions, ...filePatternOptions } },
  { title: 'Manifests and commits', options: commitOptions },
  { title: 'Writing and compaction', options: compactionOptions },
  { title: 'Changelogs, lookups, deletion vectors', options: changelogOptions },
  { title: 'Retention', options: retentionOptions },
  { title: 'Reading', options: readingOptions },
]

const patternForms = Object.entries<Option>(patterns).map(([pattern, option]) => ({
  form: new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '(.+)')}$`),
  option,
}))

const aliases = new Map(
  Object.entries<Option>(registry).flatMap(([key, option]) =>
    (option.aliases ?? []).map((alias) => [alias, key] as const),
  ),
)

/** Key of the registry for a key as stored: aliases become the key they stand for. */
function canonicalKey(key: string): string {
  return aliases.get(key) ?? key
}

/** What the registry says of a stored key; undefined for options of other engines. */
export function findOption(key: string): Option | undefined {
  const canonical = canonicalKey(key)
  if (Object.hasOwn(registry, canonical)) return registry[canonical as keyof Registry]
  return patternForms.find(({ form }) => form.test(key))?.option
}
