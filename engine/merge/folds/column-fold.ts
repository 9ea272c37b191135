import type { DataType } from '../../../formats/types/row-type.ts'
import type { ColumnRule } from '../../options/merge-spec.ts'
import {
  collectFold,
  mergeMapFold,
  mergeMapWithTimeFold,
  nestedPartialUpdateFold,
  nestedUpdateFold,
} from './collections.ts'
import type { Fold } from './fold.ts'
import { listaggFold } from './listagg.ts'
import { numberFold } from './numbers.ts'
import { pickFold } from './picks.ts'

/** The fold of a column's function. */
export function columnFold(rule: ColumnRule, type: DataType): Fold {
  switch (rule.function) {
    case 'sum':
    case 'product':
      return numberFold(rule.function, type)
    case 'listagg':
      return listaggFold(rule.delimiter, rule.distinct)
    case 'collect':
      return collectFold(rule.distinct)
    case 'merge_map':
      return mergeMapFold
    case 'merge_map_with_keytime':
      return mergeMapWithTimeFold(rule.timeField)
    case 'nested_update':
      return nestedUpdateFold(rule.nestedKey, rule.countLimit)
    case 'nested_partial_update':
      return nestedPartialUpdateFold(rule.nestedKey)
    default:
      return pickFold(rule.function, type)
  }
}
