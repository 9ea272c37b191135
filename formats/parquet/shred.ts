import type { Column } from '../column/column.ts'
import type { LeafNode, SchemaNode } from './schema-tree.ts'

/**
 * The slots of one leaf for some rows: a definition and a repetition level each, and the row of `column` that holds the value,
 * or -1 where a null or an empty list ends above it.
 */
export interface LeafSlots {
  readonly leaf: LeafNode
  readonly column: Column
  readonly count: number
  readonly definitions: Uint8Array
  readonly repetitions: Uint8Array
  readonly rows: Int32Array
}

interface Slots {
  readonly count: number
  readonly definitions: Uint8Array
  readonly repetitions: Uint8Array
  readonly rows: Int32Array
}

/**
 * Levels of all leaves under a column, for rows `[start, end)`: Dremel's striping, a level of nesting at a time over whole
 * arrays. Throws a `RangeError` for a null where the schema requires a value.
 */
export function shred(node: SchemaNode, column: Column, start: number, end: number): readonly LeafSlots[] {
  const count = end - start
  const rows = new Int32Array(count)
  for (let i = 0; i < count; i++) rows[i] = start + i
  const found: LeafSlots[] = []
  descend(
    node,
    column,
    { count, definitions: new Uint8Array(count), repetitions: new Uint8Array(count), rows },
    0,
    found,
  )
  return found
}

/** Invariant: slots with a row have exactly the definition level `above` of the node's parent. */
function descend(node: SchemaNode, column: Column, above: Slots, aboveLevel: number, found: LeafSlots[]): void {
  const slots = present(node, column, above, aboveLevel)
  switch (node.kind) {
    case 'leaf':
      found.push({ leaf: node, column, ...slots })
      return
    case 'row':
      if (column.kind !== 'row') throw mismatch(node, column)
      for (const [i, child] of node.children.entries())
        descend(child, column.children[i]!, slots, node.definition, found)
      return
    case 'list': {
      if (column.kind !== 'list') throw mismatch(node, column)
      const elements = expand(slots, column.offsets, node.slotDefinition, node.slotRepetition)
      descend(node.element, column.child, elements, node.slotDefinition, found)
      return
    }
    case 'map': {
      if (column.kind !== 'map') throw mismatch(node, column)
      const entries = expand(slots, column.offsets, node.slotDefinition, node.slotRepetition)
      descend(node.key, column.keys, entries, node.slotDefinition, found)
      descend(node.value, column.values, entries, node.slotDefinition, found)
    }
  }
}

function mismatch(node: SchemaNode, column: Column): TypeError {
  return new TypeError(`column ${node.name}: ${node.kind} in the schema, ${column.kind} in the batch`)
}

/** Ends the slots whose value is null, raises the level of the others. */
function present(node: SchemaNode, column: Column, above: Slots, aboveLevel: number): Slots {
  const nullable = node.definition > aboveLevel
  const valid = column.valid
  if (!nullable && valid === undefined) return above
  const definitions = above.definitions.slice(0, above.count)
  const rows = above.rows.slice(0, above.count)
  for (let i = 0; i < above.count; i++) {
    const row = rows[i]!
    if (row < 0) continue
    if (valid === undefined || valid[row] === 1) definitions[i] = node.definition
    else if (nullable) rows[i] = -1
    else throw new RangeError(`${node.name} is NOT NULL, but a value is null`)
  }
  return { count: above.count, definitions, repetitions: above.repetitions, rows }
}

/** A slot for each element; a list without elements keeps one, which ends there. */
function expand(slots: Slots, offsets: Int32Array, definition: number, repetition: number): Slots {
  let count = 0
  for (let i = 0; i < slots.count; i++) {
    const row = slots.rows[i]!
    count += row < 0 ? 1 : Math.max(1, offsets[row + 1]! - offsets[row]!)
  }
  const definitions = new Uint8Array(count)
  const repetitions = new Uint8Array(count)
  const rows = new Int32Array(count)
  let at = 0
  for (let i = 0; i < slots.count; i++) {
    const row = slots.rows[i]!
    const start = row < 0 ? 0 : offsets[row]!
    const end = row < 0 ? 0 : offsets[row + 1]!
    repetitions[at] = slots.repetitions[i]!
    if (start === end) {
      definitions[at] = slots.definitions[i]!
      rows[at++] = -1
      continue
    }
    for (let element = start; element < end; element++) {
      if (element > start) repetitions[at] = repetition
      definitions[at] = definition
      rows[at++] = element
    }
  }
  return { count, definitions, repetitions, rows }
}
