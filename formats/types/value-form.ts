/**
 * Which JavaScript form the values of a field take at the edge of the API, where its type leaves a choice. A field without one,
 * and so every field of a table that was opened by name, has the forms that lose nothing: BIGINT and TIMESTAMP `bigint`, DATE
 * a number of days.
 */
export interface ValueForm {
  /** `number`: BIGINT as a number. `date`: DATE, TIMESTAMP and LTZ as a `Date`. Both throw where digits would be lost. */
  readonly mode?: 'number' | 'date'
  /** Of the parts of a nested type: ARRAY [element], MAP [key, value], ROW its fields in order. */
  readonly children?: readonly (ValueForm | undefined)[]
}
