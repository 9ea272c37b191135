import { bool, double, duration, int, list, memorySize, oneOf, string } from '../kinds.ts'
import { kept, only, optional, used } from '../option.ts'

const MB = 1024 * 1024
const NO_BUFFER_SPILL = 'a full buffer becomes a level-0 file, never a spill file'
const PRIVATE = 'spill files are private to the engine'
const NO_SQL = 'there is no SQL here'
const NO_LOOKUP = 'lookups read pages of the data files themselves'

/** Options of writing and compaction. */
export const compactionOptions = {
  'write-only': used('write', bool, false, 'No compaction and no expiry: another process does both.', {
    aliases: ['write.compaction-skip'],
  }),
  'write-buffer-size': used('write', memorySize, 256 * MB, 'Memory of the buffers of all buckets of a handle.'),
  'page-size': kept(memorySize, 64 * 1024, 'Unit of buffer memory.', 'buffers are columns'),
  'write-buffer-spillable': kept(bool, true, 'Spill a full buffer.', NO_BUFFER_SPILL),
  'write-buffer-spill.max-disk-size': kept(
    memorySize,
    Number.MAX_SAFE_INTEGER,
    'Disk for spilled buffers.',
    NO_BUFFER_SPILL,
  ),
  'write-max-writers-to-spill': kept(int(), 10, 'Open buckets from which buffers spill.', NO_BUFFER_SPILL),
  'local-sort.max-num-file-handles': kept(int(2), 128, 'Spilled buffers merged at a time.', NO_BUFFER_SPILL),
  'spill-compression': kept(string, 'zstd', 'Compression of spill files.', PRIVATE),
  'spill-compression.zstd-level': kept(int(), 1, 'Level of zstd in spill files.', PRIVATE),
  'sort-engine': used('write', oneOf('loser-tree', 'min-heap'), 'loser-tree', 'Algorithm that merges sorted runs.'),
  'sort-spill-threshold': optional(
    'write',
    int(2),
    'Sorted runs of a section from which the smallest are spilled. Default: stop trigger + 1.',
  ),
  'sort-spill-buffer-size': kept(memorySize, 64 * MB, 'Memory of a spill.', PRIVATE),
  'num-sorted-run.compaction-trigger': used('write', int(1), 5, 'Sorted runs of a bucket that start a compaction.'),
  'num-sorted-run.stop-trigger': optional(
    'write',
    int(),
    'Sorted runs of a bucket that make writers wait. Default: compaction trigger + 3; never below the trigger.',
  ),
  'num-levels': optional('write', int(2), 'Levels of a bucket. Default: compaction trigger + 1.'),
  'compaction.max-size-amplification-percent': used(
    'write',
    int(0),
    200,
    'Size of all runs but the oldest, in percent of the oldest, that starts a full compaction.',
  ),
  'compaction.size-ratio': used('write', int(0), 1, 'Percent by which the next run may be larger and still be taken.'),
  'compaction.offpeak.start.hour': used('write', int(-1), -1, 'First local hour of the quiet time; -1 = none.'),
  'compaction.offpeak.end.hour': used('write', int(-1), -1, 'Local hour at which the quiet time ends; -1 = none.'),
  'compaction.offpeak-ratio': used('write', int(0), 0, 'Percent added to the size ratio in the quiet time.'),
  'compaction.optimization-interval': optional('write', duration, 'Time between full compactions.'),
  'compaction.total-size-threshold': optional('write', memorySize, 'Buckets below this size are compacted fully.'),
  'compaction.incremental-size-threshold': optional(
    'write',
    memorySize,
    'Size outside the highest level that starts a full compaction.',
  ),
  'compaction.force-up-level-0': used('write', bool, false, 'Compact level 0 whenever nothing else is to do.'),
  'compaction.force-rewrite-all-files': used('write', bool, false, 'A full compaction rewrites every file.'),
  'full-compaction.delta-commits': kept(
    int(1),
    undefined,
    'Commits between full compactions of a streaming job.',
    'call compact({ full: true }) instead',
    { aliases: ['changelog-producer.compaction-interval'] },
  ),
  'local-merge-buffer-size': kept(
    memorySize,
    undefined,
    'Memory to merge rows before a shuffle.',
    'rows are not shuffled between processes',
  ),
  'record-level.expire-time': optional(
    'write',
    duration,
    'Age from which a compaction that holds all rows of a key drops them.',
  ),
  'record-level.time-field': optional(
    'write',
    string,
    'Column with the time of a row: INT in seconds, BIGINT in seconds or milliseconds, TIMESTAMP, TIMESTAMP_LTZ. Rows without a time stay.',
  ),
  'pk-clustering-override': only('read', bool, [false], 'Sort files by clustering.columns instead of the key.', {
    immutable: true,
  }),
  'clustering.columns': kept(
    string,
    undefined,
    'Columns that files are sorted by.',
    'only pk-clustering-override gives it a meaning in a primary-key table',
    { aliases: ['sink.clustering.by-columns'] },
  ),
}

/** Options of changelogs, lookups and deletion vectors. */
export const changelogOptions = {
  'changelog-producer': used(
    'read',
    oneOf('none', 'input', 'full-compaction', 'lookup'),
    'none',
    'How changes are written beside the rows: as they were put, or as full compaction or lookups find them.',
  ),
  'changelog-producer.row-deduplicate': used(
    'write',
    bool,
    false,
    'An update that leaves all columns as they were is no change; not for the producer input.',
  ),
  'changelog-producer.row-deduplicate-ignore-fields': optional(
    'write',
    list,
    'Columns that do not count for row-deduplicate.',
  ),
  'delete.force-produce-changelog': kept(bool, false, 'SQL deletes write a changelog.', NO_SQL),
  'force-lookup': used('read', bool, false, 'Compact by lookup, though nothing else asks for it.', {
    immutable: true,
  }),
  'lookup-wait': used(
    'write',
    bool,
    true,
    'A commit waits until its rows have left level 0, in tables with lookups; not with `lookup-compact` gentle.',
    { aliases: ['changelog-producer.lookup-wait'] },
  ),
  'lookup-compact': used(
    'write',
    oneOf('radical', 'gentle'),
    'radical',
    'When lookups move level 0 up: whenever there is something, or now and then. With gentle, commits do not wait and their rows show later.',
  ),
  'lookup-compact.max-interval': optional(
    'write',
    int(1),
    'Times that gentle lets level 0 wait. Default: 2 x compaction trigger; never below the trigger.',
  ),
  'lookup.cache-file-retention': kept(duration, 3_600_000, 'Life of a lookup file.', NO_LOOKUP),
  'lookup.cache-max-disk-size': kept(memorySize, Number.MAX_SAFE_INTEGER, 'Disk for lookup files.', NO_LOOKUP),
  'lookup.cache-max-memory-size': kept(memorySize, 256 * MB, 'Memory for lookup files.', NO_LOOKUP),
  'lookup.cache-spill-compression': kept(string, 'zstd', 'Compression of lookup files.', NO_LOOKUP),
  'lookup.cache.bloom.filter.enabled': kept(bool, true, 'Bloom filter of lookup files.', NO_LOOKUP),
  'lookup.cache.bloom.filter.fpp': kept(double, 0.05, 'False positives of that filter.', NO_LOOKUP),
  'lookup.hash-load-factor': kept(double, 0.75, 'Load of the hash table of a lookup file.', NO_LOOKUP),
  'lookup.merge-buffer-size': kept(memorySize, 8 * MB, 'Memory to merge the rows of a key.', NO_LOOKUP),
  'lookup.merge-records-threshold': kept(int(), 1024, 'Rows of a key from which merging spills.', NO_LOOKUP),
  'lookup.remote-file.enabled': kept(bool, false, 'Keep lookup files beside data files.', NO_LOOKUP),
  'deletion-vectors.enabled': used(
    'read',
    bool,
    false,
    'Mark replaced rows in their old files, so that reads need not merge. Rows show once they left level 0.',
    { immutable: true },
  ),
  'deletion-vectors.bitmap64': used('write', bool, false, 'Write marks with 64-bit positions; both kinds are read.'),
  'deletion-vectors.modifiable': kept(
    bool,
    false,
    'deletion-vectors.enabled may change.',
    'options are not changed by this version',
  ),
  'deletion-vector.index-file.target-size': kept(
    memorySize,
    2 * MB,
    'Size of a file of marks.',
    'the marks of a bucket are one file',
  ),
}
