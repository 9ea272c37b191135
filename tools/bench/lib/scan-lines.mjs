// Lines for stores that iterate over row objects; each way starts an iterator, synchronous or not.

/** Seconds for every row as an object of (id, a), and as a whole. The second pass over warm code counts. */
export async function scanLines({ pairs, rows }, { plan, timed, check }) {
  const pass = async (open) => {
    let count = 0
    let sum = 0
    const items = open()
    // Awaiting each item of a synchronous iterator would cost it more than its work.
    if (items[Symbol.asyncIterator] !== undefined) {
      for await (const row of items) {
        count++
        sum += row.a
      }
    } else {
      for (const row of items) {
        count++
        sum += row.a
      }
    }
    check(count === plan.count && sum === plan.sum, `row objects: ${count} rows, sum ${sum}`)
  }
  const lines = {}
  for (const [line, open] of [
    ['row objects of (id, a), s', pairs],
    ['row objects, s', rows],
  ]) {
    await pass(open)
    ;[lines[line]] = await timed(() => pass(open))
  }
  return lines
}
