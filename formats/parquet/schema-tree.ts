import { corrupt } from '../bytes/format-error.ts'
import { type DataType, type Field, withNullable } from '../types/row-type.ts'
import { ConvertedType, PhysicalType, Repetition, type SchemaElement } from './footer.ts'
import { type LeafMeaning, meaningOf, typeOfLeaf } from './leaf-type.ts'

interface NodeBase {
  readonly name: string
  /** From the file; -1 without one. */
  readonly fieldId: number
  /** Paimon type that fits, with nested types. */
  readonly type: DataType
  /** Definition level from which the value is not null. Equals that of the parent slot when the node is required. */
  readonly definition: number
}

/** A column with values. `index` is its place among the chunks of a row group. */
export interface LeafNode extends NodeBase {
  readonly kind: 'leaf'
  readonly index: number
  readonly path: readonly string[]
  readonly element: SchemaElement
  readonly meaning: LeafMeaning
  /** Repetition level of its last repeated ancestor: the largest in its pages. `definition` is the largest definition level. */
  readonly repetition: number
}

/** A repeated node and its wrapping group. An element exists from `slotDefinition` on; it starts with a level <= `slotRepetition`. */
export interface ListNode extends NodeBase {
  readonly kind: 'list'
  readonly slotDefinition: number
  readonly slotRepetition: number
  readonly element: SchemaNode
}

export interface MapNode extends NodeBase {
  readonly kind: 'map'
  readonly slotDefinition: number
  readonly slotRepetition: number
  readonly key: SchemaNode
  readonly value: SchemaNode
}

export interface RowNode extends NodeBase {
  readonly kind: 'row'
  readonly children: readonly SchemaNode[]
}

export type SchemaNode = LeafNode | ListNode | MapNode | RowNode

/** The schema of a file: its columns, and all leaves in the order of the column chunks. */
export interface SchemaTree {
  readonly columns: readonly SchemaNode[]
  readonly leaves: readonly LeafNode[]
}

const MAX_DEPTH = 64
const MAX_LEVEL = 255

/** The columns of a tree as fields, with inferred types. */
export function fieldsOfTree(tree: SchemaTree): readonly Field[] {
  return tree.columns.map(fieldOfNode)
}

function fieldOfNode(node: SchemaNode): Field {
  return { id: node.fieldId, name: node.name, type: node.type }
}

/**
 * The tree of a stored schema. Lists of three levels (`list.element`), of two (`repeated element`, `array`, `x_tuple`) and
 * bare repeated fields all become ARRAY; MAP and MAP_KEY_VALUE groups become MAP. CORRUPT when the element counts do not fit.
 */
export function buildSchemaTree(elements: readonly SchemaElement[]): SchemaTree {
  const root = elements[0]
  if (root === undefined) throw corrupt('Parquet schema is empty')
  const builder = new TreeBuilder(elements)
  const columns = builder.children(root, { definition: 0, repetition: 0, path: [], depth: 0 })
  if (builder.next !== elements.length) {
    throw corrupt(`Parquet schema has ${elements.length} elements, its tree uses ${builder.next}`)
  }
  return { columns, leaves: builder.leaves }
}

/** Levels of the slot a node sits in, and the names down to it. */
interface Place {
  readonly definition: number
  readonly repetition: number
  readonly path: readonly string[]
  readonly depth: number
}

class TreeBuilder {
  readonly elements: readonly SchemaElement[]
  readonly leaves: LeafNode[] = []
  next = 1

  constructor(elements: readonly SchemaElement[]) {
    this.elements = elements
  }

  children(parent: SchemaElement, place: Place): SchemaNode[] {
    const count = parent.numChildren ?? 0
    if (count < 0 || count > this.elements.length - this.next) {
      throw corrupt(
        `Parquet schema group ${parent.name} claims ${count} children, ${this.elements.length - this.next} elements are left`,
      )
    }
    const nodes: SchemaNode[] = []
    for (let i = 0; i < count; i++) nodes.push(this.node(place))
    return nodes
  }

  private take(): SchemaElement {
    const element = this.elements[this.next]
    if (element === undefined)
      throw corrupt(`Parquet schema ends after ${this.elements.length} elements, more were expected`)
    this.next++
    return element
  }

  /** The next node, where a repeated one is a list of required elements. */
  private node(place: Place): SchemaNode {
    const element = this.take()
    if (element.repetition !== Repetition.REPEATED) return this.value(element, place)
    const inner = this.deeper(place, element, true)
    const node = this.value({ ...element, repetition: Repetition.REQUIRED }, { ...inner, path: place.path })
    return this.list(element, place.definition, false, inner, node)
  }

  private list(element: SchemaElement, definition: number, nullable: boolean, slot: Place, node: SchemaNode): ListNode {
    const { name, fieldId = -1 } = element
    const type: DataType = { kind: 'array', element: node.type, nullable }
    const levels = { slotDefinition: slot.definition, slotRepetition: slot.repetition }
    return { kind: 'list', name, fieldId, type, definition, ...levels, element: node }
  }

  private deeper(place: Place, element: SchemaElement, repeated: boolean): Place {
    const definition = place.definition + (element.repetition === Repetition.REQUIRED ? 0 : 1)
    const repetition = place.repetition + (repeated ? 1 : 0)
    const path = [...place.path, element.name]
    if (place.depth >= MAX_DEPTH || definition > MAX_LEVEL) {
      throw corrupt(`Parquet schema is nested deeper than ${MAX_DEPTH} levels at ${path.slice(0, 8).join('.')}`)
    }
    return { definition, repetition, path, depth: place.depth + 1 }
  }

  /** A required or optional node. */
  private value(element: SchemaElement, place: Place): SchemaNode {
    const own = this.deeper(place, element, false)
    const nullable = element.repetition === Repetition.OPTIONAL
    if (element.type !== undefined && element.numChildren === undefined) return this.leaf(element, own, nullable)
    if (element.numChildren === undefined || element.numChildren === 0) {
      throw corrupt(`Parquet schema element ${own.path.join('.')} has neither a type nor children`)
    }
    const { logicalType, convertedType } = element
    const repeated = this.elements[this.next]
    const wraps = element.numChildren === 1 && repeated?.repetition === Repetition.REPEATED
    if (wraps && (logicalType?.list || convertedType === ConvertedType.LIST))
      return this.listGroup(element, own, nullable)
    const isMap =
      logicalType?.map || convertedType === ConvertedType.MAP || convertedType === ConvertedType.MAP_KEY_VALUE
    if (wraps && isMap && repeated?.numChildren === 2) return this.mapGroup(element, own, nullable)
    const children = this.children(element, own)
    const type: DataType = { kind: 'row', fields: children.map(fieldOfNode), nullable }
    return {
      kind: 'row',
      name: element.name,
      fieldId: element.fieldId ?? -1,
      type,
      definition: own.definition,
      children,
    }
  }

  private leaf(element: SchemaElement, own: Place, nullable: boolean): LeafNode {
    const { type: physical = -1, typeLength = 0 } = element
    if (physical < PhysicalType.BOOLEAN || physical > PhysicalType.FIXED_LEN_BYTE_ARRAY) {
      throw corrupt(`Parquet column ${own.path.join('.')} has physical type ${physical}`)
    }
    if (physical === PhysicalType.FIXED_LEN_BYTE_ARRAY && typeLength <= 0) {
      throw corrupt(`Parquet column ${own.path.join('.')} is a FIXED_LEN_BYTE_ARRAY of ${typeLength} bytes`)
    }
    const meaning = meaningOf(element)
    const node: LeafNode = {
      kind: 'leaf',
      name: element.name,
      fieldId: element.fieldId ?? -1,
      type: typeOfLeaf(element, meaning, nullable),
      definition: own.definition,
      repetition: own.repetition,
      index: this.leaves.length,
      path: own.path,
      element,
      meaning,
    }
    this.leaves.push(node)
    return node
  }

  /** `group f (LIST) { repeated … }`: the repeated node is the element itself unless it merely wraps one. */
  private listGroup(element: SchemaElement, own: Place, nullable: boolean): ListNode {
    const repeated = this.take()
    const slot = this.deeper(own, repeated, true)
    const child = this.elements[this.next]
    const wrapper =
      repeated.numChildren === 1 &&
      child?.repetition !== Repetition.REPEATED &&
      repeated.name !== 'array' &&
      repeated.name !== `${element.name}_tuple`
    const node = wrapper
      ? this.node(slot)
      : this.value({ ...repeated, repetition: Repetition.REQUIRED }, { ...slot, path: own.path })
    return this.list(element, own.definition, nullable, slot, node)
  }

  private mapGroup(element: SchemaElement, own: Place, nullable: boolean): MapNode {
    const slot = this.deeper(own, this.take(), true)
    const key = this.node(slot)
    const value = this.node(slot)
    const type: DataType = { kind: 'map', key: withNullable(key.type, false), value: value.type, nullable }
    return {
      kind: 'map',
      name: element.name,
      fieldId: element.fieldId ?? -1,
      type,
      definition: own.definition,
      slotDefinition: slot.definition,
      slotRepetition: slot.repetition,
      key,
      value,
    }
  }
}
