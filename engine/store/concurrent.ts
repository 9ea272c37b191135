/** Files read at a time: enough to hide the latency of a disk, few enough to bound memory and descriptors. */
const READS_AT_A_TIME = 8

/** Results of `run` over items, in their order, at most `limit` running. The first failure is thrown once all running ones ended. */
export async function mapLimited<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
  limit: number = READS_AT_A_TIME,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  let failed = false
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++
      try {
        results[index] = await run(items[index]!)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await allEnded(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}

/** Resolves when all have; when one fails, its error is thrown once all have ended. */
export async function allEnded(running: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(running)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
