import type { BytesColumn, Column, FixedColumn } from './column.ts'

/** A text that two rows share exactly when their values are equal; for sets of values that are too mixed for typed loops. */
export type IdentityOf = (row: number) => string

/** Texts of the values of a column, nested ones included. NaN equals itself, -0.0 differs from 0.0. Costs a string a call. */
export function identitiesOf(column: Column): IdentityOf {
  const present = presentIdentities(column)
  const { valid } = column
  return valid === undefined ? present : (row) => (valid[row] === 0 ? 'null' : present(row))
}

function presentIdentities(column: Column): IdentityOf {
  switch (column.kind) {
    case 'fixed': {
      const { values } = column as FixedColumn
      return (row) => (Object.is(values[row], -0) ? '-0' : String(values[row]))
    }
    case 'wide': {
      const { values } = column
      return (row) => `${values[row * 2 + 1]}:${values[row * 2]}`
    }
    case 'bytes': {
      const { data, offsets } = column as BytesColumn
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      return (row) => `${offsets[row + 1]! - offsets[row]!}"${bytes.toString('latin1', offsets[row], offsets[row + 1])}`
    }
    case 'list': {
      const element = identitiesOf(column.child)
      const { offsets } = column
      return (row) => joined(offsets[row]!, offsets[row + 1]!, element)
    }
    case 'map': {
      const [key, value] = [identitiesOf(column.keys), identitiesOf(column.values)]
      const { offsets } = column
      // Entries of a map have no order.
      return (row) => {
        const entries: string[] = []
        for (let i = offsets[row]!; i < offsets[row + 1]!; i++) entries.push(`${key(i)}=${value(i)}`)
        return `{${entries.sort().join(',')}}`
      }
    }
    case 'row': {
      const children = column.children.map(identitiesOf)
      return (row) => `(${children.map((child) => child(row)).join(',')})`
    }
  }
}

function joined(start: number, end: number, element: IdentityOf): string {
  const parts: string[] = []
  for (let i = start; i < end; i++) parts.push(element(i))
  return `[${parts.join(',')}]`
}
