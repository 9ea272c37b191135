import type { TableSchema } from '../../formats/meta/types.ts'
import { printType } from '../../formats/types/parse.ts'
import { TableError } from '../errors.ts'
import { checkSameRows } from '../options/same-options.ts'

/** `INVALID` when a stored table is another one than a definition describes; with `ifNotExists` the definition is complete. */
export function checkSameShape(
  name: string,
  stored: TableSchema,
  defined: TableSchema,
  { ifNotExists = false }: { readonly ifNotExists?: boolean },
): void {
  checkSameRows(name, stored.options, defined.options, ifNotExists)
  const shape = (schema: TableSchema) => ({
    columns: schema.fields.map((field) => `${field.name} ${typeText(field.type)}`),
    'primary key': schema.primaryKeys,
    'partition keys': schema.partitionKeys,
  })
  const [there, wanted] = [shape(stored), shape(defined)]
  for (const part of ['columns', 'primary key', 'partition keys'] as const) {
    const [expected, actual] = [there[part].join(', '), wanted[part].join(', ')]
    if (expected === actual) continue
    throw new TableError(
      'INVALID',
      `Table ${name} exists with other ${part}: it has ${expected}, the definition says ${actual}. Change the definition, or choose another name.`,
      { table: name, expected, actual },
    )
  }
}

/** Types as text without the ids of nested fields, which a definition does not know. */
function typeText(type: Parameters<typeof printType>[0]): string {
  return JSON.stringify(printType(type), (key, value: unknown) => (key === 'id' ? undefined : value))
}
