import { randomUUID } from 'node:crypto'
import type { Random } from './random.ts'

/** The process's own randomness. */
export const nodeRandom: Random = {
  uuid: () => randomUUID(),
  fraction: () => Math.random(),
}
