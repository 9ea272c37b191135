import { bool, duration, long, memorySize, oneOf, string } from '../kinds.ts'
import { kept, only, unset } from '../option.ts'

const MB = 1024 * 1024
const NO_SPLITS = 'a scan reads each bucket as one chain of stretches'
const NO_STREAM = 'changes and follow take arguments of their own'
const BY_CALL = 'Where reads start; name the snapshot in the call instead.'

/** Options of reads. Those of time travel belong to one read: stored in a table they would bend every read. */
export const readingOptions = {
  'scan.mode': only(
    'read',
    oneOf(
      'default',
      'latest-full',
      'full',
      'latest',
      'compacted-full',
      'from-timestamp',
      'from-snapshot',
      'from-snapshot-full',
      'from-creation-timestamp',
      'from-file-creation-time',
      'incremental',
    ),
    ['default', 'latest-full', 'full', 'latest'],
    BY_CALL,
    { aliases: ['log.scan'] },
  ),
  'scan.snapshot-id': unset('read', long(), BY_CALL),
  'scan.tag-name': unset('read', string, BY_CALL),
  'scan.version': unset('read', string, BY_CALL),
  'scan.timestamp': unset('read', string, BY_CALL),
  'scan.timestamp-millis': unset('read', long(), BY_CALL, { aliases: ['log.scan.timestamp-millis'] }),
  'scan.watermark': unset('read', long(), BY_CALL),
  'scan.file-creation-time-millis': unset('read', long(), 'Read files made after this time only.'),
  'scan.creation-time-millis': unset('read', long(), 'Read from the snapshot or the files of this time.'),
  'incremental-between': unset('read', string, 'Read the changes between two snapshots.'),
  'incremental-between-timestamp': unset('read', string, 'Read the changes between two times.'),
  'incremental-between-scan-mode': kept(
    oneOf('auto', 'delta', 'changelog', 'diff'),
    'auto',
    'What a change is.',
    'only incremental-between gives it a meaning',
  ),
  'incremental-to-auto-tag': unset('read', string, 'Read the changes up to a tag.'),
  'source.split.target-size': kept(memorySize, 128 * MB, 'Size of what one task of a scan reads.', NO_SPLITS),
  'source.split.open-file-cost': kept(memorySize, 4 * MB, 'Least size that a file counts for in a split.', NO_SPLITS),
  'streaming-read-overwrite': kept(bool, false, 'Stream the changes of an overwrite.', NO_STREAM),
  'streaming.read.snapshot.delay': kept(duration, undefined, 'Age of the newest snapshot streamed.', NO_STREAM),
  'consumer-id': kept(string, undefined, 'Name of a stream that remembers how far it came.', NO_STREAM),
  'consumer.mode': kept(oneOf('exactly-once', 'at-least-once'), 'exactly-once', 'Care of that memory.', NO_STREAM),
  'consumer.ignore-progress': kept(bool, false, 'Start a stream without its memory.', NO_STREAM),
  'scan.fallback-branch': unset('read', string, 'Branch to read partitions from that this one lacks.'),
  'scan.primary-branch': unset('read', string, 'Branch to read partitions from before this one.'),
  'scan.ignore-corrupt-files': kept(bool, false, 'Skip damaged files.', 'a damaged file is an error, always'),
  'scan.ignore-lost-files': kept(bool, false, 'Skip missing files.', 'a missing file is an error, always'),
  'table-read.sequence-number.enabled': kept(
    bool,
    false,
    'Show sequence numbers in audit_log and binlog.',
    'this version has no such system tables',
  ),
}
