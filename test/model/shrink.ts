/**
 * The shortest list found, by leaving out half, then quarters and so on, that still fails. What is left fails without any single
 * item no more, unless the time ran out first.
 */
export async function shrink<T>(
  items: readonly T[],
  fails: (shorter: readonly T[]) => Promise<boolean>,
  millis: number,
): Promise<readonly T[]> {
  const end = performance.now() + millis
  let current = items
  let size = Math.ceil(current.length / 2)
  while (current.length > 1 && performance.now() < end) {
    let shorter = false
    for (let start = 0; start < current.length && performance.now() < end; ) {
      const candidate = [...current.slice(0, start), ...current.slice(start + size)]
      if (candidate.length < current.length && (await fails(candidate))) {
        current = candidate
        shorter = true
      } else {
        start += size
      }
    }
    if (size > 1) size = Math.ceil(size / 2)
    else if (!shorter) break
  }
  return current
}
