import { runCompact } from './compact.ts'
import type { TaskContext } from './context.ts'
import { runFlush } from './flush.ts'
import { runRead } from './read.ts'
import { runRenumber } from './renumber.ts'
import { runSort } from './sort.ts'
import type {
  CompactTask,
  FilesResult,
  FlushTask,
  ReadResult,
  ReadTask,
  RenumberTask,
  SortResult,
  SortTask,
  Task,
  TaskResult,
} from './task.ts'

/** Runs one task on this thread. */
export function runTask(task: FlushTask | CompactTask | RenumberTask, context: TaskContext): Promise<FilesResult>
export function runTask(task: SortTask, context: TaskContext): Promise<SortResult>
export function runTask(task: ReadTask, context: TaskContext): Promise<ReadResult>
export function runTask(task: Task, context: TaskContext): Promise<TaskResult>
export async function runTask(task: Task, context: TaskContext): Promise<TaskResult> {
  switch (task.kind) {
    case 'flush':
      return runFlush(task, context)
    case 'compact':
      return runCompact(task, context)
    case 'renumber':
      return runRenumber(task, context)
    case 'sort':
      return runSort(task)
    case 'read':
      return runRead(task, context)
  }
}
