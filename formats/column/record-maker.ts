/**
 * Makes plain objects that have the given fields, in order, all null. Copies of one template share its hidden class, and a name
 * such as `__proto__` is a field of them like any other: assigning to it sets the field.
 */
export function recordMaker(names: readonly string[]): () => Record<string, unknown> {
  const template: Record<string, unknown> = {}
  for (const name of names) {
    Object.defineProperty(template, name, { value: null, enumerable: true, writable: true, configurable: true })
  }
  return () => ({ ...template })
}
