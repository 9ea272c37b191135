import { type InputRow, type KeyOf, type RowOf, type Table, t } from '../../engine/index.ts'

const fields = {
  origin: t.string(),
  destination: t.string(),
  /** Departure, local time, microseconds. */
  date: t.timestamp(6),
  /** Minutes; negative = early. */
  delay: t.bigint().nullable(),
  /** Miles. */
  distance: t.bigint(),
}
const primaryKey = ['origin', 'destination', 'date'] as const

export const tableName = 'demo.flights'
export const columns = ['origin', 'destination', 'date', 'delay', 'distance'] as const

export const flights = { fields, primaryKey, options: { bucket: 4 } }

export type FlightsTable = Table<RowOf<typeof fields>, InputRow<typeof fields>, KeyOf<typeof fields, typeof primaryKey>>
export type Flight = RowOf<typeof fields>
