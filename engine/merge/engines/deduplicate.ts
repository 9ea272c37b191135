import { gather } from '../../../formats/column/gather.ts'
import type { MergeEngine, Reducer } from '../reduce.ts'

/** Keeps the last row of each key, whatever its kind: Paimon's default merge engine. */
export const deduplicate: MergeEngine = {
  name: 'deduplicate',
  reducers({ source, row, groupEnd }, _inputs, memory) {
    const groups = groupEnd.length
    if (groups === row.length) return always((inputs) => gather(inputs, source, row, groups, memory))
    const lastSource = new Uint16Array(groups)
    const lastRow = new Uint32Array(groups)
    for (let group = 0; group < groups; group++) {
      const last = groupEnd[group]! - 1
      lastSource[group] = source[last]!
      lastRow[group] = row[last]!
    }
    return always((inputs) => gather(inputs, lastSource, lastRow, groups, memory))
  },
}

function always(reducer: Reducer): () => Reducer {
  return () => reducer
}
