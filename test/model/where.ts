import type { Row } from './shape.ts'

/** A condition as the API takes it, and what it means, written as plain JavaScript. */
export interface Condition {
  readonly where: Record<string, unknown>
  readonly holds: (row: Row) => boolean
}

/** Conditions over the value columns; `value` moves their bounds. */
export function condition(kind: number, value: number): Condition {
  const amount = BigInt(value) * 1_000_003n - 2n ** 62n
  const v = (row: Row) => row.v as number
  const amountOf = (row: Row) => row.amount as bigint | null
  const conditions: Condition[] = [
    { where: { v: { gte: value } }, holds: (row) => v(row) >= value },
    { where: { v: { lt: value }, score: { gt: 4 } }, holds: (row) => v(row) < value && (row.score as number) > 4 },
    { where: { amount: { isNull: true } }, holds: (row) => amountOf(row) === null },
    {
      where: { not: { amount: { gt: amount } } },
      holds: (row) => amountOf(row) !== null && amountOf(row)! <= amount,
    },
    {
      where: { or: [{ amount: { lte: amount } }, { note: { isNull: true } }] },
      holds: (row) => (amountOf(row) !== null && amountOf(row)! <= amount) || row.note === null,
    },
    {
      where: { v: { in: [value, value + 1, value + 2] } },
      holds: (row) => v(row) >= value && v(row) <= value + 2,
    },
    {
      where: { and: [{ v: { ne: value } }, { note: { isNull: false } }] },
      holds: (row) => v(row) !== value && row.note !== null,
    },
    { where: { v: value }, holds: (row) => v(row) === value },
  ]
  return conditions[kind % conditions.length]!
}
