export type {
  AutoCommit,
  BucketExplanation,
  BucketFilter,
  BucketLevels,
  CallOptions,
  ChangeBatch,
  ChangesOptions,
  ColumnInfo,
  CommitOptions,
  CommitResult,
  CompactOptions,
  Deleted,
  FollowOptions,
  Mutation,
  ReadOptions,
  RowKind,
  ScanOptions,
  SchemaInfo,
  SnapshotInfo,
} from './api/calls.ts'
export type { TableDefinition } from './api/definition.ts'
export { type Fields, type FieldType, type InputRow, type KeyOf, type Projection, type RowOf, t } from './api/fields.ts'
export type { Range } from './api/keys.ts'
export type { Tests, Where } from './api/where.ts'
export { type ErrorCode, type ErrorDetails, errorCodes, isTableError, TableError } from './errors.ts'
export { openWarehouse, type WarehouseOptions } from './open.ts'
export type { OptionInput } from './options/resolve.ts'
export { type Explanation, renderExplanation } from './plan/explain.ts'
export type { LevelSummary } from './plan/levels.ts'
export type {
  CommitEvent,
  CompactionEvent,
  CompactionStartEvent,
  ExpiryEvent,
  FailureEvent,
  StallEvent,
  TableEvents,
} from './table/events.ts'
export type { Scan } from './table/scan-iterator.ts'
export type { Table } from './table/table.ts'
export type { ReadStats } from './tasks/task.ts'
export type { CheckLevel, TableCheck, TableProblem } from './upkeep/check.ts'
export type { ExpireResult } from './upkeep/expire.ts'
export type { ExpireOverrides } from './upkeep/expire-request.ts'
export type { OrphanOptions, OrphanResult } from './upkeep/orphans.ts'
export type { RepairResult } from './upkeep/repair.ts'
export type { Logger, TableOptions, Warehouse } from './warehouse.ts'
