import { bool, int, list, long, MAX_INT, oneOf, string } from '../kinds.ts'
import { kept, only, optional, unset, used } from '../option.ts'

const NOT_DEDUPLICATE = 'only another merge engine looks at it, and such a table is refused by its merge-engine'
const NO_SEQUENCE_FIELD = 'only sequence.field gives it a meaning, and such a table is refused by that'
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
  'merge-engine': only(
    'read',
    oneOf('deduplicate', 'partial-update', 'aggregation', 'first-row'),
    ['deduplicate'],
    'How rows of one key become one.',
    { immutable: true },
  ),
  'sequence.field': unset('read', list, 'Columns that order the rows of a key before the order of writing does.'),
  'sequence.field.sort-order': kept(
    oneOf('ascending', 'descending'),
    'ascending',
    'Whether the largest or the smallest sequence field wins.',
    NO_SEQUENCE_FIELD,
  ),
  'rowkind.field': unset('write', string, 'Column that says whether a row is an insert or a delete.', {
    immutable: true,
  }),
  'ignore-delete': only(
    'read',
    bool,
    [false],
    'Drop deletes, those already in the files too: so it changes reads as well as writes.',
    { aliases: ['first-row.ignore-delete', 'deduplicate.ignore-delete', 'partial-update.ignore-delete'] },
  ),
  'ignore-update-before': kept(bool, false, 'Drop rows of kind -U when they are written.', 'no call writes such rows'),
  'partial-update.remove-record-on-delete': kept(bool, false, 'A delete removes the whole row.', NOT_DEDUPLICATE, {
    immutable: true,
  }),
  'partial-update.remove-record-on-sequence-group': kept(
    list,
    undefined,
    'Sequence groups whose deletes remove the whole row.',
    NOT_DEDUPLICATE,
    { immutable: true },
  ),
  'aggregation.remove-record-on-delete': kept(bool, false, 'A delete removes the whole row.', NOT_DEDUPLICATE, {
    immutable: true,
  }),
  'fields.default-aggregate-function': kept(
    string,
    undefined,
    'Aggregate function of columns that name none.',
    NOT_DEDUPLICATE,
  ),
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

const COUNT_LIMIT = MAX_INT

/** Options with a name inside the key, `<f>`: a column. All belong to other merge engines than deduplicate. */
export const fieldOptions = {
  'fields.<f>.aggregate-function': kept(string, undefined, 'Aggregate function of the column.', NOT_DEDUPLICATE),
  'fields.<f>.ignore-retract': kept(bool, false, 'Aggregate as if deletes had not come.', NOT_DEDUPLICATE),
  'fields.<f>.distinct': kept(bool, false, 'Collect each element once.', NOT_DEDUPLICATE),
  'fields.<f>.list-agg-delimiter': kept(string, ',', 'Text between the elements of listagg.', NOT_DEDUPLICATE),
  'fields.<f>.nested-key': kept(list, undefined, 'Key columns of the rows in a nested table.', NOT_DEDUPLICATE),
  'fields.<f>.count-limit': kept(int(1), COUNT_LIMIT, 'Most rows of a nested table.', NOT_DEDUPLICATE),
  'fields.<f>.sequence-group': kept(list, undefined, 'Columns ordered by the column, or columns.', NOT_DEDUPLICATE),
}
