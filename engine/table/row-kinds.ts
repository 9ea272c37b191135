import type { Batch, BytesColumn, Column } from '../../formats/column/column.ts'
import { take, takeBatch } from '../../formats/column/gather.ts'
import { scalarColumn } from '../../formats/column/values.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { DELETE, INSERT, isRetract, KIND_TEXTS, UPDATE_BEFORE } from '../merge/kinds.ts'
import type { MergeSpec } from '../options/merge-spec.ts'
import type { ResolvedOptions } from '../options/resolve.ts'
import { retractRefusal } from '../options/retracts.ts'
import type { WriteBatch } from '../write/writer.ts'

/** What rows do to their keys: `rowkind.field` says it, some kinds are dropped, and some the table's engine refuses. */
export class RowKinds {
  readonly #spec: MergeSpec
  readonly #field: { readonly name: string; readonly index: number } | undefined
  readonly #dropsUpdateBefore: boolean

  constructor(schema: TableSchema, options: ResolvedOptions, spec: MergeSpec) {
    const name = options['rowkind.field']
    this.#spec = spec
    this.#field = name === undefined ? undefined : { name, index: schema.fields.findIndex((f) => f.name === name) }
    this.#dropsUpdateBefore = options['ignore-update-before']
  }

  /** Rows as they go to the buffers; `INVALID`, before anything is buffered, when the engine would never take one. */
  ofPut(values: Batch): WriteBatch {
    const field = this.#field
    if (field === undefined) return { kinds: INSERT, values }
    return this.#without(kindsIn(values.columns[field.index]!, field.name), values)
  }

  /** Deletes; where a column says the kind it says -D. */
  ofDelete(values: Batch): WriteBatch {
    const field = this.#field
    const columns = values.columns.map((column, index) =>
      index === field?.index ? repeated(KIND_TEXTS[DELETE], values.fields[index]!.type, values.rows) : column,
    )
    return this.#without(new Int8Array(values.rows).fill(DELETE), { ...values, columns })
  }

  #without(kinds: Int8Array, values: Batch): WriteBatch {
    const { ignoreDelete } = this.#spec
    const drops = (kind: number) =>
      isRetract(kind) && (ignoreDelete || (kind === UPDATE_BEFORE && this.#dropsUpdateBefore))
    const kept: number[] = []
    for (const [row, kind] of kinds.entries()) if (!drops(kind)) kept.push(row)
    for (const kind of [UPDATE_BEFORE, DELETE]) {
      if (!kept.some((row) => kinds[row] === kind)) continue
      const refusal = retractRefusal(this.#spec, kind === DELETE)
      if (refusal !== undefined) throw refusal
    }
    if (kept.length === kinds.length) return { kinds, values }
    return { kinds: Int8Array.from(kept, (row) => kinds[row]!), values: takeBatch(values, Uint32Array.from(kept)) }
  }
}

function kindsIn(column: Column, name: string): Int8Array {
  const { data, offsets, valid } = column as BytesColumn
  const kinds = new Int8Array(column.length)
  for (let row = 0; row < column.length; row++) {
    const text = valid?.[row] === 0 ? null : Buffer.from(data.subarray(offsets[row]!, offsets[row + 1]!)).toString()
    kinds[row] = text === null ? -1 : (KIND_TEXTS as readonly string[]).indexOf(text.toUpperCase())
    if (kinds[row]! >= 0) continue
    throw new TableError(
      'INVALID',
      `Row ${row}: column ${JSON.stringify(name)} is the rowkind.field and holds ${JSON.stringify(text)}. Give one of ${KIND_TEXTS.join(', ')}.`,
      { column: name, value: text, row },
    )
  }
  return kinds
}

function repeated(text: string, type: DataType, rows: number): Column {
  return take(scalarColumn(type, Buffer.from(text)), new Uint32Array(rows))
}
