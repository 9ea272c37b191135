import type { ReadResult } from '../engine/tasks/task.ts'
import { buffersOf, movableBatch } from '../formats/column/copy.ts'
import type { WireResult } from './wire.ts'

/**
 * The answer with a read result whose buffers move to the other thread instead of being cloned. Columns of a result are often
 * views of decoded pages, which would travel whole: these are copied once into buffers of their own size.
 */
export async function movedAnswer(result: ReadResult): Promise<WireResult<ReadResult>> {
  const { move, transferableSymbol, valueSymbol } = await import('piscina')
  const batches = result.batches.map(movableBatch)
  const answer: WireResult<ReadResult> = { ok: true, value: { ...result, batches } }
  const movable = { [transferableSymbol]: buffersOf(batches), [valueSymbol]: answer }
  // Piscina marks the object and gives it back; the pool finds the answer in its place.
  return move(movable as unknown as ArrayBuffer) as unknown as WireResult<ReadResult>
}
