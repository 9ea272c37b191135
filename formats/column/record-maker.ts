import type { Field } from '../types/row-type.ts'

const makers = new WeakMap<readonly Field[], () => Record<string, unknown>>()

/** The `recordMaker` of a list of fields, made once: making it costs as much as many rows. */
export function recordMakerOf(fields: readonly Field[]): () => Record<string, unknown> {
  let maker = makers.get(fields)
  if (maker === undefined) {
    maker = recordMaker(fields.map((field) => field.name))
    makers.set(fields, maker)
  }
  return maker
}

/**
 * Makes plain objects that have the given fields, in order, all null. Copies of one template share its hidden class, and a name
 * such as `__proto__` is a field of them like any other: assigning to it sets the field.
 */
function recordMaker(names: readonly string[]): () => Record<string, unknown> {
  const template: Record<string, unknown> = {}
  for (const name of names) {
    Object.defineProperty(template, name, { value: null, enumerable: true, writable: true, configurable: true })
  }
  return () => ({ ...template })
}
