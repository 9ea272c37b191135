import type { TableSchema } from '../../formats/meta/types.ts'
import type { StatsMode } from '../../formats/row/simple-stats.ts'
import type { ResolvedOptions } from '../options/resolve.ts'
import type { DataFileOptions } from './data-writer.ts'

/** `created_by` of our Parquet files. */
const CREATED_BY = 'lakelet version 0.1.0'

/** How changelog files beside data files of a level are written: like those, where no option of changelog files says otherwise. */
export function changelogFileOptions(schema: TableSchema, options: ResolvedOptions, level: number): DataFileOptions {
  const like = fileOptions(schema, options, level, options['changelog-file.stats-mode'])
  return {
    ...like,
    parquet: { ...like.parquet, compression: options['changelog-file.compression'] ?? like.parquet.compression },
  }
}

/** How data files of a level are written: the table's options, those by level first. */
export function dataFileOptions(schema: TableSchema, options: ResolvedOptions, level: number): DataFileOptions {
  return fileOptions(schema, options, level, undefined)
}

function fileOptions(
  schema: TableSchema,
  options: ResolvedOptions,
  level: number,
  mode: StatsMode | undefined,
): DataFileOptions {
  const defaultMode = mode ?? options['metadata.stats-mode.per.level'].get(level) ?? options['metadata.stats-mode']
  const keepFirst = options['metadata.stats-keep-first-n-columns']
  const none: StatsMode = { kind: 'none' }
  return {
    parquet: {
      compression: options['file.compression.per.level'].get(level) ?? options['file.compression'],
      level: options['file.compression.zstd-level'],
      dictionary: options['parquet.enable.dictionary'],
      pageBytes: options['parquet.page.size'],
      pageRows: options['parquet.page.row.count.limit'],
      rowGroupBytes: options['file.block-size'],
      dictionaryPageBytes: options['parquet.dictionary.page.size'],
      createdBy: CREATED_BY,
    },
    thin: options['data-file.thin-mode'],
    statsModes: schema.fields.map(
      (field, index) =>
        options.fieldStatsModes.get(field.name) ?? (keepFirst >= 0 && index >= keepFirst ? none : defaultMode),
    ),
    denseStats: options['metadata.stats-dense-store'],
  }
}
