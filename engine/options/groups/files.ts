import { bool, dataCodec, int, long, memorySize, oneOf, perLevel, statsMode, string } from '../kinds.ts'
import { kept, only, optional, unset, used } from '../option.ts'

const formats = oneOf('parquet', 'orc', 'avro')
const NO_FILE_INDEX = 'an index makes reads faster and never changes them; none is written or asked by this version'
const BATCHES = 'batches are sized by the engine'

/** Options of data files. */
export const fileOptions = {
  'file.format': only(
    'write',
    formats,
    ['parquet'],
    'Format of new data files; a read goes by the format of each file.',
  ),
  'file.format.per.level': {
    ...only('write', perLevel(formats), [new Map<number, 'parquet'>()], 'Format of new data files, by level.'),
    accepts: (levels: ReadonlyMap<number, string>) => [...levels.values()].every((format) => format === 'parquet'),
    only: 'parquet at each level',
  },
  'file.compression': used('write', dataCodec, 'zstd', 'Compression of the pages of new data files.'),
  'file.compression.per.level': used('write', perLevel(dataCodec), new Map(), 'Compression by level.'),
  'file.compression.zstd-level': used('write', int(1), 1, 'Level of zstd.'),
  'file.block-size': optional('write', memorySize, 'Size of a Parquet row group. Default: parquet.block.size.'),
  'parquet.block.size': used('write', long(1), 128 * 1024 * 1024, 'Bytes of a Parquet row group, a plain number.'),
  'parquet.page.size': used('write', int(1), 1024 * 1024, 'Bytes of a Parquet page before compression.'),
  'parquet.page.row.count.limit': used(
    'write',
    int(1),
    4096,
    'Most rows of a Parquet page. Paimon writes 20,000 where it is not set.',
  ),
  'parquet.enable.dictionary': used('write', bool, true, 'Try dictionary encoding.'),
  'parquet.dictionary.page.size': used('write', int(1), 1024 * 1024, 'Bytes of the largest dictionary of a column.'),
  'file.suffix.include.compression': kept(
    bool,
    false,
    'Put the codec into the names of data files.',
    'the name of a file means nothing: each file says what it holds',
  ),
  'data-file.prefix': used('write', string, 'data-', 'First part of the names of data files.'),
  'changelog-file.prefix': used('write', string, 'changelog-', 'First part of the names of changelog files.'),
  'data-file.thin-mode': used('write', bool, false, 'Leave the copies of the key columns out of data files.'),
  'data-file.external-paths': unset('write', string, 'Places outside the table for new data files.'),
  'changelog-file.format': only(
    'write',
    formats,
    ['parquet'],
    'Format of new changelog files; a read goes by the format of each file.',
  ),
  'changelog-file.compression': optional(
    'write',
    dataCodec,
    'Compression of changelog files. Default: as for data files of their level.',
  ),
  'changelog-file.stats-mode': optional(
    'write',
    statsMode,
    'Statistics of changelog files. Default: as for data files of their level.',
  ),
  'target-file-size': used('write', memorySize, 128 * 1024 * 1024, 'Size at which the next data file starts.'),
  'metadata.stats-mode': used(
    'write',
    statsMode,
    { kind: 'truncate', length: 16 },
    'Statistics that manifests keep of the columns of a data file.',
  ),
  'metadata.stats-mode.per.level': used('write', perLevel(statsMode), new Map(), 'Statistics by level.'),
  'metadata.stats-dense-store': used('write', bool, true, 'Leave columns without statistics out of manifests.'),
  'metadata.stats-keep-first-n-columns': used('write', int(-1), -1, 'Columns with statistics; -1 = all.'),
  'file-index.in-manifest-threshold': kept(memorySize, 500, 'Largest index inside a manifest.', NO_FILE_INDEX),
  'file-index.read.enabled': kept(bool, true, 'Skip files by their index.', NO_FILE_INDEX),
  'index-file-in-data-file-dir': used('read', bool, false, 'Index files lie beside data files.', { immutable: true }),
  'read.batch-size': kept(int(1), 1024, 'Rows of a batch of a file reader.', BATCHES),
  'write.batch-size': kept(int(1), 1024, 'Rows of a batch of a file writer.', BATCHES, {
    aliases: ['orc.write.batch-size'],
  }),
  'async-file-write': kept(bool, true, 'Write files on another thread.', 'files are written by worker threads anyway'),
  'file-reader-async-threshold': kept(
    memorySize,
    10 * 1024 * 1024,
    'Size from which files are read on another thread.',
    'files are read by worker threads anyway',
  ),
}

/** Options with names inside the key: an index type, a column, a setting of the type. */
export const filePatternOptions = {
  'fields.<f>.stats-mode': optional('write', statsMode, 'Statistics of the column. Default: metadata.stats-mode.'),
  'file-index.<type>.columns': kept(string, undefined, 'Columns with an index of the type.', NO_FILE_INDEX),
  'file-index.<type>.<column>.<setting>': kept(string, undefined, 'Setting of the index of a column.', NO_FILE_INDEX),
}
