import type { Column, FixedColumn } from './column.ts'

/**
 * Whether row `a` of one column and row `b` of another of the same type hold the same value: null equals null, NaN itself, -0.0 not
 * 0.0. Entries of a map have no order.
 */
export function sameRow(left: Column, a: number, right: Column, b: number): boolean {
  const [nullA, nullB] = [left.valid?.[a] === 0, right.valid?.[b] === 0]
  if (nullA || nullB) return nullA && nullB
  switch (left.kind) {
    case 'fixed':
      return Object.is(left.values[a], (right as FixedColumn).values[b])
    case 'wide': {
      const other = (right as typeof left).values
      return left.values[2 * a] === other[2 * b] && left.values[2 * a + 1] === other[2 * b + 1]
    }
    case 'bytes': {
      const other = right as typeof left
      const [from, to] = [left.offsets[a]!, left.offsets[a + 1]!]
      const [otherFrom, otherTo] = [other.offsets[b]!, other.offsets[b + 1]!]
      if (to - from !== otherTo - otherFrom) return false
      for (let i = 0; i < to - from; i++) if (left.data[from + i] !== other.data[otherFrom + i]) return false
      return true
    }
    case 'list': {
      const other = right as typeof left
      const [from, to, start] = [left.offsets[a]!, left.offsets[a + 1]!, other.offsets[b]!]
      if (to - from !== other.offsets[b + 1]! - start) return false
      for (let i = 0; i < to - from; i++) if (!sameRow(left.child, from + i, other.child, start + i)) return false
      return true
    }
    case 'map': {
      const other = right as typeof left
      const [from, to] = [left.offsets[a]!, left.offsets[a + 1]!]
      if (to - from !== other.offsets[b + 1]! - other.offsets[b]!) return false
      for (let entry = from; entry < to; entry++) {
        const found = entryOf(other, b, left.keys, entry)
        if (found < 0 || !sameRow(left.values, entry, other.values, found)) return false
      }
      return true
    }
    case 'row': {
      const { children } = right as typeof left
      return left.children.every((child, index) => sameRow(child, a, children[index]!, b))
    }
  }
}

/** The entry of a row of a map whose key is row `key` of `keys`; -1 = there is none. */
function entryOf(map: Extract<Column, { kind: 'map' }>, row: number, keys: Column, key: number): number {
  for (let entry = map.offsets[row]!; entry < map.offsets[row + 1]!; entry++) {
    if (sameRow(map.keys, entry, keys, key)) return entry
  }
  return -1
}
