import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { Column } from '../column/column.ts'
import { nullColumn } from '../column/constant.ts'
import type { DataType, Field } from '../types/row-type.ts'
import type { NestedRows } from './column-read.ts'
import { convertLeaf } from './convert.ts'
import type { LeafNode, ListNode, MapNode, RowNode, SchemaNode } from './schema-tree.ts'

/**
 * A column of the file that is to be read as a type: the node, and below it only what the type asks for. A field that the
 * file lacks has no node.
 */
export interface ReadPlan {
  readonly node: SchemaNode
  readonly type: DataType
  readonly children: readonly ReadChild[]
  /** All leaves below that are read; the first one carries the structure. */
  readonly leaves: readonly LeafNode[]
}

interface ReadChild {
  readonly type: DataType
  readonly plan: ReadPlan | undefined
}

/** How to read `node` as `type`; fields of rows are matched by name. UNSUPPORTED when the shapes differ. */
export function planColumn(node: SchemaNode, type: DataType): ReadPlan {
  const children = childrenOf(node, type)
  if (children === undefined)
    throw unsupported(`column ${node.name} is ${node.type.kind} in the file and cannot be read as ${type.kind}`)
  const leaves = node.kind === 'leaf' ? [node] : children.flatMap((child) => child.plan?.leaves ?? [])
  // A row of which nothing is wanted still needs a leaf to know where it is null.
  return { node, type, children, leaves: leaves.length > 0 ? leaves : [firstLeaf(node)] }
}

function childrenOf(node: SchemaNode, type: DataType): readonly ReadChild[] | undefined {
  switch (node.kind) {
    case 'leaf':
      return ['array', 'map', 'multiset', 'row', 'variant'].includes(type.kind) ? undefined : []
    case 'list':
      return type.kind === 'array' ? [child(node.element, type.element)] : undefined
    case 'map':
      if (type.kind === 'map') return [child(node.key, type.key), child(node.value, type.value)]
      if (type.kind === 'multiset') {
        return [child(node.key, type.element), child(node.value, { kind: 'int', nullable: false })]
      }
      return undefined
    case 'row': {
      const fields = type.kind === 'row' ? type.fields : type.kind === 'variant' ? VARIANT_FIELDS : undefined
      return fields?.map((field) => {
        const found = node.children.find((each) => each.name === field.name)
        return { type: field.type, plan: found && planColumn(found, field.type) }
      })
    }
  }
}

const VARIANT_PART: DataType = { kind: 'varbinary', length: 0x7fffffff, nullable: false }
const VARIANT_FIELDS: readonly Field[] = [
  { id: 0, name: 'value', type: VARIANT_PART },
  { id: 1, name: 'metadata', type: VARIANT_PART },
]

function child(node: SchemaNode, type: DataType): ReadChild {
  return { type, plan: planColumn(node, type) }
}

function firstLeaf(node: SchemaNode): LeafNode {
  switch (node.kind) {
    case 'leaf':
      return node
    case 'list':
      return firstLeaf(node.element)
    case 'map':
      return firstLeaf(node.key)
    case 'row':
      return firstLeaf(node.children[0]!)
  }
}

/** Where the slots of a node are among the entries of a leaf: those with `repetition <= r` and `definition >= d`. */
interface Slots {
  readonly definition: number
  readonly repetition: number
}

/** The column of a plan from the levels and values of its leaves. Children that disagree on their lengths are CORRUPT. */
export function assembleColumn(plan: ReadPlan, rows: number, read: ReadonlyMap<LeafNode, NestedRows>): Column {
  const column = build(plan, { definition: 0, repetition: 0 }, read)
  if (column.length !== rows) throw corrupt(`column ${plan.node.name} has ${column.length} rows, ${rows} were expected`)
  return column
}

function build(plan: ReadPlan, slots: Slots, read: ReadonlyMap<LeafNode, NestedRows>): Column {
  const levels = read.get(plan.leaves[0]!)!
  const { node } = plan
  switch (node.kind) {
    case 'leaf':
      return buildLeaf(node, plan.type, slots, levels)
    case 'row':
      return buildRow(node, plan, slots, levels, read)
    case 'list': {
      const { offsets, valid, length } = buildOffsets(node, slots, levels)
      const child = build(plan.children[0]!.plan!, innerSlots(node), read)
      checkLength(node, child, offsets[length]!)
      return { kind: 'list', length, offsets, child, valid }
    }
    case 'map': {
      const { offsets, valid, length } = buildOffsets(node, slots, levels)
      const keys = build(plan.children[0]!.plan!, innerSlots(node), read)
      const values = build(plan.children[1]!.plan!, innerSlots(node), read)
      checkLength(node, keys, offsets[length]!)
      checkLength(node, values, offsets[length]!)
      if (keys.valid?.includes(0)) throw corrupt(`map ${node.name} has a null key`)
      return { kind: 'map', length, offsets, keys, values, valid }
    }
  }
}

function innerSlots(node: ListNode | MapNode): Slots {
  return { definition: node.slotDefinition, repetition: node.slotRepetition }
}

function checkLength(node: SchemaNode, column: Column, expected: number): void {
  if (column.length !== expected) {
    throw corrupt(`parts of column ${node.name} disagree: ${column.length} values against ${expected}`)
  }
}

function buildLeaf(node: LeafNode, type: DataType, slots: Slots, levels: NestedRows): Column {
  const { entries, definition, values } = levels
  if (node.definition === slots.definition && slots.definition === 0) return convertLeaf(node, type, values, undefined)
  const valid = new Uint8Array(entries)
  let length = 0
  let present = 0
  for (let i = 0; i < entries; i++) {
    if (definition[i]! < slots.definition) continue
    const there = definition[i] === node.definition ? 1 : 0
    valid[length++] = there
    present += there
  }
  if (present === length) return convertLeaf(node, type, values, undefined)
  values.spread(present, length, valid, 0, 1)
  return convertLeaf(node, type, values, valid.subarray(0, length))
}

function buildRow(
  node: RowNode,
  plan: ReadPlan,
  slots: Slots,
  levels: NestedRows,
  read: ReadonlyMap<LeafNode, NestedRows>,
): Column {
  const { entries, definition, repetition } = levels
  const valid = new Uint8Array(entries)
  const repeats = repetition.length > 0
  let length = 0
  let present = 0
  for (let i = 0; i < entries; i++) {
    if (definition[i]! < slots.definition || (repeats && repetition[i]! > slots.repetition)) continue
    const there = definition[i]! >= node.definition ? 1 : 0
    valid[length++] = there
    present += there
  }
  const children = plan.children.map(({ type, plan: inner }) =>
    inner === undefined ? nullColumn(type, length) : build(inner, slots, read),
  )
  for (const column of children) checkLength(node, column, length)
  return { kind: 'row', length, children, valid: present === length ? undefined : valid.subarray(0, length) }
}

/** One pass over the levels: a slot opens a list, an element lengthens the last one. */
function buildOffsets(
  node: ListNode | MapNode,
  slots: Slots,
  levels: NestedRows,
): { readonly offsets: Int32Array; readonly valid: Uint8Array | undefined; readonly length: number } {
  const { entries, definition, repetition } = levels
  const offsets = new Int32Array(entries + 1)
  const valid = new Uint8Array(entries)
  let length = 0
  let present = 0
  let elements = 0
  for (let i = 0; i < entries; i++) {
    const level = definition[i]!
    if (level < slots.definition) continue
    if (repetition[i]! <= slots.repetition) {
      const there = level >= node.definition ? 1 : 0
      valid[length] = there
      present += there
      offsets[length++] = elements
    }
    if (repetition[i]! <= node.slotRepetition && level >= node.slotDefinition) elements++
  }
  offsets[length] = elements
  return {
    offsets: offsets.subarray(0, length + 1),
    valid: present === length ? undefined : valid.subarray(0, length),
    length,
  }
}
