import { TableError } from '../errors.ts'
import { patterns, registry } from './registry.ts'

/**
 * `INVALID` for a key that is no option here (`findOption`) but nearly one: one letter wrong, missing, too many or swapped with its neighbour, two in
 * keys of 10 letters or more. A table would go by the default in silence. Other unknown keys belong to other
 * engines: no option of Paimon 1.4 is so near to one that is known here.
 */
export function misspelt(key: string): TableError | undefined {
  const meant = nearest(key)
  if (meant === undefined) return undefined
  return new TableError(
    'INVALID',
    `There is no option '${key}': did you mean '${meant}'? Write it so, or leave it out.`,
    {
      option: key,
      value: meant,
    },
  )
}

function nearest(key: string): string | undefined {
  const most = key.length < 10 ? 1 : 2
  // In a pattern the names of columns may be any: the last part is compared.
  const field = /^(fields\..+\.)([^.]+)$/.exec(key)
  const known = [
    ...Object.keys(registry),
    ...(field === null
      ? []
      : Object.keys(patterns).map((pattern) => field[1] + pattern.slice(pattern.lastIndexOf('.') + 1))),
  ]
  let best: string | undefined
  let least = most + 1
  for (const candidate of known) {
    const distance = edits(key.toLowerCase(), candidate, least)
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Letters to change, add, drop or swap with the next one; `limit` where there are as many or more. */
function edits(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = last
    last = row
  }
  return Math.min(limit, last[b.length]!)
}
