import { nodeClock } from '../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../engine/ports/node-fs.ts'
import { type TaskContext, threadContext } from '../engine/tasks/context.ts'
import { loadCodecs } from '../formats/compress/load-codecs.ts'

let context: TaskContext | undefined

/** Ports and codecs of this thread, set up with its first task. No table state. */
export function localContext(): TaskContext {
  context ??= threadContext(createNodeFileSystem(), nodeClock, loadCodecs())
  return context
}

/** Sets zstd up while the thread waits for its first task; where it is absent, the task that needs it will say so. */
export function warmUp(): void {
  try {
    localContext().codecs.get('zstd')
  } catch {
    // Not every table is compressed with it.
  }
}
