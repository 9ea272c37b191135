import type { FileSystem, OpenSink, OpenSource } from '../../engine/ports/file-system.ts'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import type { Random } from '../../engine/ports/random.ts'
import { type Life, never, type Scheduler } from './scheduler.ts'

/** Who sees what is done to the disk. */
export interface DiskWatcher {
  /** After a file got its name for good: a snapshot, a tag, a schema. */
  linked(path: string, process: number): void
  /** Before a file loses its name. */
  unlinking(path: string, process: number): void
  /** After a hint was replaced. */
  renamed(path: string, process: number): void
}

/** A process that uses the disk. */
export interface DiskUser extends Life {
  readonly process: number
  /** Calls until it is killed, and what is told of it. */
  callsLeft: number
  killed: () => void
}

/**
 * The disk that all processes share. Each call of each process is a step of the scheduler, and after a number of calls the power
 * goes: what is on the disk then is what the next processes find.
 */
export class Disk {
  readonly #scheduler: Scheduler
  readonly #watcher: DiskWatcher
  readonly #random: Random
  memory: MemoryFileSystem
  calls = 0
  #callsLeft = Number.POSITIVE_INFINITY
  #powerCut: (() => void) | undefined
  #killed: ((user: DiskUser) => void) | undefined

  readonly #liar: boolean

  /** A `liar` does not sync folders. */
  constructor(scheduler: Scheduler, random: Random, watcher: DiskWatcher, liar: boolean) {
    this.#liar = liar
    this.#scheduler = scheduler
    this.#random = random
    this.#watcher = watcher
    this.memory = createMemoryFileSystem({ now: scheduler.clock({ name: 'disk', alive: true }, 0).now })
  }

  /** Cuts the power at the call with this number from now on; `cut` has to end all processes at once. */
  plan(callsLeft: number, cut: () => void, killed: (user: DiskUser) => void): void {
    this.#callsLeft = callsLeft
    this.#powerCut = cut
    this.#killed = killed
  }

  /** The disk as one process sees it. */
  seenBy(user: DiskUser): FileSystem {
    const call = async <T>(syscall: string, path: string, run: (fs: MemoryFileSystem) => Promise<T>): Promise<T> => {
      await this.#scheduler.step(user, `${user.name} ${syscall} ${path}`)
      if (!this.#count(user)) return never
      return run(this.memory)
    }
    const callNow = <T>(syscall: string, path: string, run: (fs: MemoryFileSystem) => T): T => {
      if (!this.#count(user))
        throw Object.assign(new Error(`EIO: the process is gone, ${syscall} ${path}`), { code: 'EIO', syscall })
      this.#scheduler.note(`${user.name} ${syscall} ${path}`)
      return run(this.memory)
    }
    const watcher = this.#watcher
    return {
      readFile: (path) => call('read', path, (fs) => fs.readFile(path)),
      createFile: (path, bytes, options) => call('create', path, (fs) => fs.createFile(path, bytes, options)),
      syncFile: (path) => call('fsync', path, (fs) => fs.syncFile(path)),
      link: (from, to) =>
        call('link', to, async (fs) => {
          await fs.link(from, to)
          watcher.linked(to, user.process)
        }),
      rename: (from, to) =>
        call('rename', to, async (fs) => {
          await fs.rename(from, to)
          watcher.renamed(to, user.process)
        }),
      unlink: (path) =>
        call('unlink', path, async (fs) => {
          watcher.unlinking(path, user.process)
          await fs.unlink(path)
        }),
      removeDirectory: (path) => call('rmdir', path, (fs) => fs.removeDirectory(path)),
      makeDirectory: (path) => call('mkdir', path, (fs) => fs.makeDirectory(path)),
      list: (path) => call('list', path, (fs) => fs.list(path)),
      stat: (path) => call('stat', path, (fs) => fs.stat(path)),
      syncDirectory: (path) => call('fsync', path, async (fs) => (this.#liar ? undefined : fs.syncDirectory(path))),
      realPath: (path) => call('realpath', path, (fs) => fs.realPath(path)),
      openSource: (path) => {
        const source = callNow('open', path, (fs) => fs.openSource(path))
        return {
          bytes: source.bytes,
          read: (offset, length) => callNow('pread', path, () => source.read(offset, length)),
          close: () => source.close(),
        } satisfies OpenSource
      },
      createSink: (path) => {
        const sink = callNow('create', path, (fs) => fs.createSink(path))
        return {
          get bytesWritten() {
            return sink.bytesWritten
          },
          write: (bytes) => callNow('write', path, () => sink.write(bytes)),
          sync: () => callNow('fsync', path, () => sink.sync()),
          close: () => sink.close(),
        } satisfies OpenSink
      },
    }
  }

  /** False when the process does not come to do this call. */
  #count(user: DiskUser): boolean {
    if (!user.alive) return false
    this.calls++
    if (--this.#callsLeft <= 0) {
      this.memory = this.memory.crash(this.#random)
      this.#callsLeft = Number.POSITIVE_INFINITY
      this.#powerCut?.()
      return false
    }
    if (--user.callsLeft <= 0) {
      user.alive = false
      this.#killed?.(user)
      user.killed()
      return false
    }
    return true
  }
}
