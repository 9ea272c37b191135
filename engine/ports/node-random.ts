import type { Random } from './random.ts'

/** The process's own randomness. Node sets up its cryptography with the first uuid, some 5 ms: opening a table needs none. */
export const nodeRandom: Random = {
  uuid: () => crypto.randomUUID(),
  fraction: () => Math.random(),
}
