import { bool, int, list, long, MAX_INT, oneOf, string } from '../kinds.ts'
import { kept, only, optional, unset, used } from '../option.ts'

const NO_DYNAMIC = 'rows are not written to dynamic buckets by this version'

/** Options that say what a table is: keys, buckets, partitions, how rows of one key become one. */
export const shapeOptions = {
  bucket: used(
    'write',
    int(-2),
    -1,
    'Buckets of a partition; -1 = dynamic, -2 = postponed. Tables that this library creates have 1 when it is left out.',
    {
      accepts: (buckets) => buckets > 0,
      only: '1 or more',
    },
  ),
  'bucket-key': optional(
    'read',
    list,
    'Columns that choose the bucket. Default: the primary key without partition columns.',
    {
      immutable: true,
    },
  ),
  'bucket-function.type': used(
    'read',
    oneOf('default', 'mod', 'hive'),
    'default',
    'How the bucket key becomes a bucket: by its hash, by the number itself, as Hive does.',
    { immutable: true },
  ),
  'dynamic-bucket.target-row-num': kept(long(1), 2000000, 'Keys of a dynamic bucket.', NO_DYNAMIC),
  'dynamic-bucket.initial-buckets': kept(int(), undefined, 'Dynamic buckets to start with.', NO_DYNAMIC),
  'dynamic-bucket.max-buckets': kept(int(), -1, 'Most dynamic buckets of a partition; -1 = no limit.', NO_DYNAMIC),
  'dynamic-bucket.assigner-parallelism': kept(int(), undefined, 'Tasks that assign buckets.', NO_DYNAMIC),
  'primary-key': kept(list, undefined, 'Primary key, for SQL without one.', 'schema files hold the key on its own', {
    immutable: true,
  }),
  partition: kept(list, undefined, 'Partition columns, for SQL without them.', 'schema files hold them on their own', {
    immutable: true,
  }),
  'merge-engine': used(
    'read',
    oneOf('deduplicate', 'partial-update', 'aggregation', 'first-row'),
    'deduplicate',
    'How rows of one key become one.',
    {
      immutable: true,
    },
  ),
  'sequence.field': optional(
    'read',
    list,
    'Columns that order the rows of a key before the order of writing does; the last one wins.',
  ),
  'sequence.field.sort-order': used(
    'read',
    oneOf('ascending', 'descending'),
    'ascending',
    'Whether the largest or the smallest sequence field wins.',
  ),
  'rowkind.field': optional('write', string, 'Column of text that says what a row does: `+I`, `-U`, `+U` or `-D`.', {
    immutable: true,
  }),
  'ignore-delete': used(
    'read',
    bool,
    false,
    'Drop deletes when they are written, and those that are in files already when they meet other rows of their key.',
    { aliases: ['first-row.ignore-delete', 'deduplicate.ignore-delete', 'partial-update.ignore-delete'] },
  ),
  'ignore-update-before': used('write', bool, false, 'Drop rows of kind `-U` when they are written.'),
  'partial-update.remove-record-on-delete': used('read', bool, false, 'A delete removes the whole row.', {
    immutable: true,
  }),
  'partial-update.remove-record-on-sequence-group': optional(
    'read',
    list,
    'Sequence groups whose deletes remove the whole row.',
    { immutable: true },
  ),
  'aggregation.remove-record-on-delete': used('read', bool, false, 'A delete removes the whole row.', {
    immutable: true,
  }),
  'fields.default-aggregate-function': optional('read', string, 'Aggregate function of columns that name none.'),
  'partition.default-name': used(
    'read',
    string,
    '__DEFAULT_PARTITION__',
    'Folder name of a partition column that is null or blank.',
  ),
  'partition.legacy-name': used('read', bool, true, 'Write dates in partition folders as numbers of days.'),
  'data-file.path-directory': unset('read', string, 'Folder in the table that holds its partitions and buckets.', {
    immutable: true,
  }),
  branch: only('read', string, ['main'], 'Branch that is read and written.'),
  'alter-column-null-to-not-null.disabled': kept(
    bool,
    true,
    'Refuse to make a nullable column NOT NULL.',
    'columns are not altered by this version',
  ),
  'disable-explicit-type-casting': kept(
    bool,
    false,
    'Refuse type changes that may lose digits.',
    'columns are not altered by this version',
  ),
  'add-column-before-partition': kept(
    bool,
    false,
    'Put new columns before the partition columns.',
    'columns are not altered by this version',
  ),
}

/** Options with a name inside the key, `<f>`: a column, or columns with commas between them. */
export const fieldOptions = {
  'fields.<f>.aggregate-function': optional('read', string, 'Aggregate function of the column.'),
  'fields.<f>.ignore-retract': used('read', bool, false, 'Aggregate as if deletes had not come.'),
  'fields.<f>.distinct': used('read', bool, false, 'Of `listagg` and `collect`: take each element once.'),
  'fields.<f>.list-agg-delimiter': used('read', string, ',', 'Text between the elements of `listagg`.'),
  'fields.<f>.nested-key': optional('read', list, 'Key columns of the rows in a nested table.'),
  'fields.<f>.count-limit': used('read', int(1), MAX_INT, 'Most rows of a nested table.'),
  'fields.<f>.sequence-group': optional('read', list, 'Columns that change together, in the order of these.'),
}
