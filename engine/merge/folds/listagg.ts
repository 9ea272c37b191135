import { BytesBuilder } from '../../../formats/column/bytes-builder.ts'
import type { BytesColumn, Column } from '../../../formats/column/column.ts'
import { heapMemory } from '../../../formats/column/memory.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import { ADD_OLDER, type Fold, SKIP, TAKE } from './fold.ts'

/**
 * Texts joined by a delimiter; null and empty ones count nothing, so that a lone empty text stays. `distinct` leaves out the parts of
 * a later text that are empty or there already; parts are what lies between delimiters.
 */
export function listaggFold(delimiter: string, distinct: boolean): Fold {
  // latin1 shows each byte as one character: joining and cutting by bytes works on strings.
  const between = Buffer.from(delimiter).toString('latin1')
  const join = distinct ? joinDistinct : (a: string, b: string) => a + between + b
  return (inputs, { source, row, groupEnd, steps }) => {
    const texts = inputs.map(textsOf)
    const builder = new BytesBuilder(heapMemory, groupEnd.length)
    let place = 0
    for (let group = 0; group < groupEnd.length; group++) {
      let standing: string | undefined
      for (; place < groupEnd[group]!; place++) {
        const step = steps[place]!
        const input = source[place]!
        if (step === SKIP || isNull(inputs[input]!, row[place]!)) continue
        const text = texts[input]!(row[place]!)
        if (step === TAKE || standing === undefined || standing === '') standing = text
        else if (text !== '')
          standing = step === ADD_OLDER ? join(text, standing, between) : join(standing, text, between)
      }
      if (standing === undefined) builder.appendNull()
      else builder.push(Buffer.from(standing, 'latin1'))
    }
    return builder.view()
  }
}

function textsOf(column: Column): (row: number) => string {
  const { data, offsets } = column as BytesColumn
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return (row) => bytes.toString('latin1', offsets[row], offsets[row + 1])
}

function joinDistinct(standing: string, text: string, delimiter: string): string {
  const known = new Set(partsOf(standing, delimiter))
  let joined = standing
  for (const part of partsOf(text, delimiter)) {
    if (part === '' || known.has(part)) continue
    known.add(part)
    joined += delimiter + part
  }
  return joined
}

/** Paimon cuts at blanks where the delimiter is empty. */
function partsOf(text: string, delimiter: string): readonly string[] {
  return text.split(delimiter === '' ? ' ' : delimiter)
}
