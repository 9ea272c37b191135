import type { Codecs } from '../../formats/compress/codec.ts'
import type { Clock } from '../ports/clock.ts'
import type { FileSystem } from '../ports/file-system.ts'
import type { FooterCache } from '../store/data-reader.ts'
import { type PageShelves, Shelf } from '../store/shelf.ts'

/** The part of a file system that writes data files. */
export type OutputFiles = Pick<FileSystem, 'createSink' | 'unlink'>

/** What a task may use beside its descriptor: ports and codecs of the thread it runs on. */
export interface TaskContext {
  readonly fs: FileSystem
  /** Where data files are written; `fs` when left out. */
  readonly output?: OutputFiles | undefined
  readonly clock: Clock
  readonly codecs: Codecs
  /** Taken between two windows: lets the event loop breathe that the task shares with others, or more urgent tasks on its thread. */
  readonly pause?: (() => Promise<void>) | undefined
  /** Footers that outlive the task; without it a task keeps those of its own files. */
  readonly footers?: FooterCache | undefined
  /** Pages that stretches of scans end in, for the stretches that go on there. */
  readonly shelf?: PageShelves | undefined
}

/** The context of a thread that does nothing but tasks. */
export function threadContext(fs: FileSystem, clock: Clock, codecs: Codecs): TaskContext {
  return { fs, clock, codecs, shelf: new Shelf() }
}
