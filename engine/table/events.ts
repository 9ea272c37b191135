import { EventEmitter } from 'node:events'
import { TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'
import type { Explanation } from '../plan/explain.ts'

/** A compaction that landed. */
export interface CompactionEvent {
  /** Partition folder, '' without partitions. */
  readonly partition: string
  readonly bucket: number
  readonly outputLevel: number
  /** Why these files: each rule tried with its numbers. */
  readonly explanation: Explanation
  /** Names of the files merged into new ones, of the new ones, and of those that only changed their level. */
  readonly rewritten: readonly string[]
  readonly written: readonly string[]
  readonly upgraded: readonly string[]
  readonly inputBytes: number
  readonly outputBytes: number
  readonly inputRows: number
  readonly outputRows: number
  readonly spilledBytes: number
  readonly millis: number
}

export interface CompactionStartEvent {
  readonly partition: string
  readonly bucket: number
  readonly outputLevel: number
  readonly inputBytes: number
  readonly explanation: Explanation
}

/** A snapshot that this handle published. */
export interface CommitEvent {
  readonly snapshot: number
  readonly kind: 'APPEND' | 'COMPACT' | 'OVERWRITE' | 'ANALYZE'
  readonly addedFiles: number
  readonly removedFiles: number
}

export interface ExpiryEvent {
  readonly snapshots: readonly number[]
  readonly files: number
  readonly bytes: number
}

/** Something in the background went wrong. Nothing is lost; compaction and expiry are tried again. */
export interface FailureEvent {
  readonly during: 'compaction' | 'expiry' | 'commit'
  readonly error: unknown
}

export interface StallEvent {
  readonly partition: string
  readonly bucket: number
  readonly runs: number
}

export interface TableEvents {
  readonly compactionStart: [CompactionStartEvent]
  readonly compaction: [CompactionEvent]
  readonly commit: [CommitEvent]
  readonly expiry: [ExpiryEvent]
  readonly stall: [StallEvent]
  readonly conflict: [{ readonly partition: string; readonly bucket: number; readonly reason: string }]
  readonly failure: [FailureEvent]
}

const EVENTS: Readonly<Record<keyof TableEvents, true>> = {
  compactionStart: true,
  compaction: true,
  commit: true,
  expiry: true,
  stall: true,
  conflict: true,
  failure: true,
}

/** Typed events of a table. A listener that throws is the listener's own fault: it goes to `uncaughtException`. */
export class TableEmitter {
  readonly #emitter = new EventEmitter()

  on<K extends keyof TableEvents>(event: K, listener: (...args: TableEvents[K]) => void): void {
    checkEvent(event, listener)
    this.#emitter.on(event, listener as (...args: unknown[]) => void)
  }

  off<K extends keyof TableEvents>(event: K, listener: (...args: TableEvents[K]) => void): void {
    checkEvent(event, listener)
    this.#emitter.off(event, listener as (...args: unknown[]) => void)
  }

  /** Delivered in a task of their own, so that a throwing listener never breaks the engine's step. */
  emit<K extends keyof TableEvents>(event: K, ...args: TableEvents[K]): void {
    if (this.#emitter.listenerCount(event) > 0) queueMicrotask(() => this.#emitter.emit(event, ...args))
  }

  removeAll(): void {
    this.#emitter.removeAllListeners()
  }
}

/** `INVALID` for a name that no event has: its listener would never be called. */
function checkEvent(event: string, listener: unknown): void {
  if (typeof listener !== 'function') {
    throw new TableError(
      'INVALID',
      `The listener of ${JSON.stringify(event)} is ${shown(listener)}. Give a function.`,
      {
        value: listener,
      },
    )
  }
  if (Object.hasOwn(EVENTS, event)) return
  const names = Object.keys(EVENTS)
  throw new TableError('INVALID', `There is no event ${JSON.stringify(event)}. Listen to ${names.join(', ')}.`, {
    value: event,
  })
}
