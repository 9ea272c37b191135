import type { TaskResult } from '../engine/tasks/task.ts'
import { buffersOf, movableBatch } from '../formats/column/copy.ts'
import type { WireResult } from './wire.ts'

/** An answer, and the buffers under it that move to the other thread instead of being cloned. */
export interface Answer {
  readonly answer: WireResult<TaskResult>
  readonly buffers: readonly ArrayBuffer[]
}

/**
 * The answer with a result. Columns of a read result are often views of decoded pages, which would travel whole: these are
 * copied once into buffers of their own size.
 */
export function answerOf(value: TaskResult): Answer {
  if (value.kind !== 'read') return { answer: { ok: true, value }, buffers: [] }
  const batches = value.batches.map(movableBatch)
  return { answer: { ok: true, value: { ...value, batches } }, buffers: buffersOf(batches) as ArrayBuffer[] }
}

/** The answer as Piscina takes it. */
export async function movedByPiscina({ answer, buffers }: Answer): Promise<WireResult<TaskResult>> {
  if (buffers.length === 0) return answer
  const { move, transferableSymbol, valueSymbol } = await import('piscina')
  const movable = { [transferableSymbol]: buffers, [valueSymbol]: answer }
  // Piscina marks the object and gives it back; the pool finds the answer in its place.
  return move(movable as unknown as ArrayBuffer) as unknown as WireResult<TaskResult>
}
