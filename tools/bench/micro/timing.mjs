/** CPU time of `action`, in ns per item: the best of some rounds, so that other work on the machine counts little. */
export function nanosPerItem(items, action, rounds = 15) {
  for (let warm = 0; warm < 5; warm++) action()
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    const start = performance.now()
    let calls = 0
    do {
      action()
      calls++
    } while (performance.now() - start < 40)
    best = Math.min(best, (process.cpuUsage(before).user * 1000) / (calls * items))
  }
  return best
}

export function report(name, nanos) {
  process.stdout.write(`${name.padEnd(44)} ${nanos.toFixed(1).padStart(8)} ns\n`)
}
