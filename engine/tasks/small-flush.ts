import { posix } from 'node:path'
import type { Unsynced } from '../store/unsynced.ts'
import type { OutputFiles, TaskContext } from './context.ts'
import { runFlush } from './flush.ts'
import type { FilesResult, FlushTask } from './task.ts'

/** A flush of few rows. Its files are there and can be read, but are not durable yet: they are left to `unsynced`. */
export async function runSmallFlush(task: FlushTask, context: TaskContext, unsynced: Unsynced): Promise<FilesResult> {
  const output = new HeldFiles()
  const result = await runFlush(task, { ...context, output })
  try {
    for (const [path, bytes] of output.files) await unsynced.create(path, bytes)
  } catch (error) {
    // Whoever asked for the flush removes what is there of it.
    for (const path of output.files.keys()) unsynced.forget(posix.basename(path))
    throw error
  }
  return result
}

/** Files in memory: small ones reach the disk whole, in one call each. */
class HeldFiles implements OutputFiles {
  readonly files = new Map<string, Uint8Array>()

  createSink(path: string) {
    const parts: Uint8Array[] = []
    let written = 0
    return {
      get bytesWritten() {
        return written
      },
      write: (bytes: Uint8Array) => {
        // The writer may use its memory again.
        parts.push(bytes.slice())
        written += bytes.length
      },
      sync: () => undefined,
      close: () => void this.files.set(path, Buffer.concat(parts)),
    }
  }

  async unlink(path: string): Promise<void> {
    this.files.delete(path)
  }
}
