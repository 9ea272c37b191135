import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'

/**
 * A predicate over columns of the read schema as one over columns of a file of another schema, at most as strict: parts that
 * touch a column which the file lacks, or has with another type, are left out. Undefined = nothing can be said.
 */
export function adaptPredicate(
  predicate: Predicate,
  fields: readonly Field[],
  fileSchema: TableSchema,
): Predicate | undefined {
  if ('children' in predicate) {
    const children = predicate.children.map((child) => adaptPredicate(child, fields, fileSchema))
    const known = children.filter((child) => child !== undefined)
    const enough = predicate.op === 'and' ? known.length > 0 : known.length === children.length
    return enough ? { op: predicate.op, children: known } : undefined
  }
  if ('child' in predicate) {
    // A child that lost a part accepts more, so its negation would accept less than it must.
    const child = isWhole(predicate.child, fields, fileSchema)
      ? adaptPredicate(predicate.child, fields, fileSchema)
      : undefined
    return child && { op: 'not', child }
  }
  const column = nameInFile(predicate.column, fields, fileSchema)
  return column === undefined ? undefined : { ...predicate, column }
}

function isWhole(predicate: Predicate, fields: readonly Field[], fileSchema: TableSchema): boolean {
  if ('children' in predicate) return predicate.children.every((child) => isWhole(child, fields, fileSchema))
  if ('child' in predicate) return isWhole(predicate.child, fields, fileSchema)
  return nameInFile(predicate.column, fields, fileSchema) !== undefined
}

function nameInFile(name: string, fields: readonly Field[], fileSchema: TableSchema): string | undefined {
  const field = fields.find((candidate) => candidate.name === name)
  const written = fileSchema.fields.find((candidate) => candidate.id === field?.id)
  if (field === undefined || written === undefined) return undefined
  const same = JSON.stringify({ ...written.type, nullable: true }) === JSON.stringify({ ...field.type, nullable: true })
  return same ? written.name : undefined
}
