import { bool, duration, int, long, MAX_INT, memorySize, oneOf, string } from '../kinds.ts'
import { kept, only, optional, unset, used } from '../option.ts'

const MB = 1024 * 1024
const NO_OVERWRITE = 'partitions are not overwritten by this version'
const manifestCodecs = oneOf('zstd', 'zstandard', 'deflate', 'snappy', 'none', 'null')

/** Options of manifests and commits. */
export const commitOptions = {
  'manifest.format': only('read', oneOf('avro', 'orc', 'parquet'), ['avro'], 'Format of manifests.'),
  'manifest.compression': used('write', manifestCodecs, 'zstd', 'Compression of new manifests.'),
  'manifest.target-file-size': used('write', memorySize, 8 * MB, 'Size that small manifests are merged to.'),
  'manifest.merge-min-count': used('write', int(1), 30, 'Small manifests that start a merge.'),
  'manifest.full-compaction-threshold-size': used(
    'write',
    memorySize,
    16 * MB,
    'Size of changed manifests that starts a rewrite of them all.',
  ),
  'manifest.delete-file-drop-stats': used(
    'write',
    bool,
    false,
    'Leave statistics out of the entries of removed files.',
  ),
  'commit.force-compact': used('write', bool, false, 'Each commit waits for compaction.'),
  'commit.timeout': optional('write', duration, 'How long a commit may try. Default: no limit.'),
  'commit.max-retries': used('write', int(0), 10, 'How often a commit tries again after a conflict.'),
  'commit.min-retry-wait': used('write', duration, 10, 'First wait before a commit tries again.'),
  'commit.max-retry-wait': used('write', duration, 10_000, 'Longest wait before a commit tries again.'),
  'commit.user-prefix': optional('write', string, 'First part of the commit user.'),
  'commit.force-create-snapshot': used('write', bool, false, 'A commit without rows makes a snapshot too.'),
  'snapshot.ignore-empty-commit': optional(
    'write',
    bool,
    'A commit without rows makes no snapshot. Default: true, unless commit.force-create-snapshot.',
  ),
  'commit.strict-mode.last-safe-snapshot': unset(
    'write',
    long(-1),
    'Fail a commit when others compacted or overwrote after this snapshot.',
  ),
  'commit.discard-duplicate-files': kept(
    bool,
    false,
    'Drop files of a commit that the table holds already.',
    'a commit names new files only',
  ),
  'dynamic-partition-overwrite': kept(bool, true, 'Overwrite the partitions written only.', NO_OVERWRITE),
  'overwrite-upgrade': kept(bool, true, 'Overwriting writes to the highest level.', NO_OVERWRITE),
  'scan.manifest.parallelism': kept(
    int(1),
    undefined,
    'Manifests read at a time. Default: number of cores.',
    'the engine chooses',
  ),
  'file-operation.thread-num': kept(
    int(1),
    undefined,
    'Files deleted at a time. Default: number of cores.',
    'the engine chooses',
    { aliases: ['delete-file.thread-num'] },
  ),
}

const AS_SNAPSHOTS = 'Default: as for snapshots; where it is more, changelogs stay when their snapshots go.'

/** Options of snapshot, changelog, partition and tag retention. */
export const retentionOptions = {
  'snapshot.num-retained.min': used('write', int(1), 10, 'Snapshots kept however old they are.'),
  'snapshot.num-retained.max': used('write', int(1), MAX_INT, 'Snapshots kept at most.'),
  'snapshot.time-retained': used('write', duration, 3_600_000, 'Age from which snapshots are dropped.'),
  'snapshot.expire.limit': used('write', int(1), 50, 'Snapshots dropped at a time.'),
  'snapshot.expire.execution-mode': kept(
    oneOf('sync', 'async'),
    'sync',
    'Whether a commit waits for the expiry that follows it.',
    'the engine chooses; the same files go',
  ),
  'snapshot.clean-empty-directories': used('write', bool, false, 'Remove folders that expiry left empty.', {
    aliases: ['snapshot.expire.clean-empty-directories'],
  }),
  'changelog.num-retained.min': optional('write', int(1), `Changelogs kept however old they are. ${AS_SNAPSHOTS}`),
  'changelog.num-retained.max': optional('write', int(1), `Changelogs kept at most. ${AS_SNAPSHOTS}`),
  'changelog.time-retained': optional('write', duration, `Age from which changelogs are dropped. ${AS_SNAPSHOTS}`),
  'consumer.expiration-time': optional(
    'write',
    duration,
    'Time after its last writing from which the mark of a consumer is dropped. Default: never.',
  ),
  'consumer.changelog-only': used(
    'write',
    bool,
    false,
    'Consumers keep changelogs from expiry, not snapshots. Holds where changelogs are kept longer than snapshots.',
  ),
  'partition.expiration-time': unset('write', duration, 'Age from which whole partitions are dropped.'),
  'partition.expiration-strategy': kept(
    oneOf('values-time', 'update-time'),
    'values-time',
    'What the age of a partition is.',
    'only partition.expiration-time gives it a meaning',
  ),
  'partition.expiration-check-interval': kept(
    duration,
    3_600_000,
    'Time between looks at the age of partitions.',
    'only partition.expiration-time gives it a meaning',
  ),
  'partition.expiration-max-num': kept(
    int(1),
    100,
    'Partitions dropped at a time.',
    'only partition.expiration-time gives it a meaning',
  ),
  'partition.expiration-batch-size': kept(
    int(1),
    undefined,
    'Partitions dropped in one commit.',
    'only partition.expiration-time gives it a meaning',
  ),
  'partition.timestamp-formatter': kept(
    string,
    undefined,
    'Form of the time in partition values.',
    'only partition.expiration-time and done marks of other engines use it',
  ),
  'partition.timestamp-pattern': kept(
    string,
    undefined,
    'Which partition columns make up the time.',
    'only partition.expiration-time and done marks of other engines use it',
  ),
  'tag.automatic-creation': only(
    'write',
    oneOf('none', 'process-time', 'watermark', 'batch'),
    ['none'],
    'When a commit makes a tag by itself.',
  ),
  'tag.creation-period': kept(string, 'daily', 'Time between tags.', 'only tag.automatic-creation gives it a meaning'),
  'tag.creation-delay': kept(duration, 0, 'Wait before a tag.', 'only tag.automatic-creation gives it a meaning'),
  'tag.num-retained-max': kept(int(1), undefined, 'Tags kept.', 'only tag.automatic-creation gives it a meaning'),
  'tag.default-time-retained': kept(
    duration,
    undefined,
    'How long a tag is kept.',
    'tags expire in the engines that make them',
  ),
}
