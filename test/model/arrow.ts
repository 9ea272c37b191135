import {
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow'
import type { Row, Rows } from './shape.ts'

const types = {
  v: new Int32(),
  id: undefined,
  name: new Utf8(),
  n: new Int32(),
  note: new Utf8(),
  part: new Utf8(),
  amount: new Int64(),
  score: new Float64(),
}

/** Rows as an apache-arrow RecordBatch, built with apache-arrow alone. */
export function recordBatch(rows: Rows, list: readonly Row[]): RecordBatch {
  const vectors = rows.columns.map((name): [string, Vector] => {
    const values = list.map((row) => row[name])
    const type = types[name as keyof typeof types] ?? (typeof values[0] === 'bigint' ? new Int64() : new Int32())
    return [name, vectorFromArray(values, type)]
  })
  const fields = vectors.map(([name, vector]) => new Field(name, vector.type, true))
  const data = makeData({
    type: new Struct(fields),
    length: list.length,
    nullCount: 0,
    children: vectors.map(([, vector]) => vector.data[0]!),
  })
  return new RecordBatch(new Schema(fields), data)
}
