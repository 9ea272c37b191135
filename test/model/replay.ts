import { memoryPlace } from './memory-place.ts'
import type { Operation } from './operation.ts'
import { attempt } from './run.ts'
import type { Shape } from './shape.ts'

/** Repeats a run that failed; throws what it threw. */
export async function replay(shape: Shape, operations: readonly Operation[]): Promise<void> {
  const failure = await attempt(shape, operations, memoryPlace)
  if (failure !== undefined) throw failure
}
