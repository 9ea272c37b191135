/**
 * The smallest and the largest of the first `count` values, at least one. Signed high words and unsigned low ones are compared: a bigint
 * kept from row to row would be allocated for each.
 */
export function spanOf(values: BigInt64Array, count: number): { readonly min: bigint; readonly max: bigint } {
  const words = new Int32Array(values.buffer, values.byteOffset, count * 2)
  let least = 0
  let most = 0
  let leastHigh = words[1]!
  let leastLow = words[0]! >>> 0
  let mostHigh = leastHigh
  let mostLow = leastLow
  for (let i = 1; i < count; i++) {
    const high = words[2 * i + 1]!
    const low = words[2 * i]! >>> 0
    if (high < leastHigh || (high === leastHigh && low < leastLow)) {
      leastHigh = high
      leastLow = low
      least = i
    } else if (high > mostHigh || (high === mostHigh && low > mostLow)) {
      mostHigh = high
      mostLow = low
      most = i
    }
  }
  return { min: values[least]!, max: values[most]! }
}
