import type { DataType } from '../../formats/types/row-type.ts'

/** The first part of a type, at any depth, that this version neither reads nor writes; undefined when there is none. */
export function unsupportedType(type: DataType): DataType | undefined {
  switch (type.kind) {
    case 'variant':
    case 'multiset':
      return type
    case 'array':
      return unsupportedType(type.element)
    case 'map':
      return unsupportedType(type.key) ?? unsupportedType(type.value)
    case 'row':
      for (const field of type.fields) {
        const found = unsupportedType(field.type)
        if (found !== undefined) return found
      }
      return undefined
    default:
      return undefined
  }
}
