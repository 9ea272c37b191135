import type { Batch, Column, FixedArray } from './column.ts'
import { heapMemory, type Memory } from './memory.ts'
import { sliceColumn } from './slice.ts'

/**
 * A copy of a batch whose buffers come from `allocate` and hold its rows and nothing else, however large the pages are that
 * the batch is a view of. One copy of the bytes.
 */
export function copyBatch(batch: Batch, allocate: Memory): Batch {
  return { ...batch, columns: batch.columns.map((column) => copyColumn(column, allocate)) }
}

/**
 * A batch whose buffers may be moved away: those that its rows nearly fill are taken as they are, others are copied once to
 * their own size. Nobody else may hold the buffers taken.
 */
export function movableBatch(batch: Batch): Batch {
  return {
    ...batch,
    columns: batch.columns.map((column) => (isCompact(column) ? column : copyColumn(column, heapMemory))),
  }
}

/** At most so many bytes of a buffer for each byte in use; copying costs more than carrying the rest along. */
const MAX_SLACK = 1.5

function isCompact(column: Column): boolean {
  if (column.valid !== undefined && !fills(column.valid)) return false
  if (column.kind === 'fixed' || column.kind === 'wide') return fills(column.values)
  if (column.kind !== 'bytes' || !fills(column.offsets) || column.offsets[0] !== 0) return false
  return fills(column.data.subarray(0, column.offsets[column.length]))
}

/** Buffers that other threads share cannot move. */
function fills(array: FixedArray): boolean {
  return array.buffer instanceof ArrayBuffer && array.buffer.byteLength <= array.byteLength * MAX_SLACK + 64
}

/** Every buffer under a batch, each once: the transfer list of a batch that may be moved away. */
export function buffersOf(batches: readonly Batch[]): ArrayBufferLike[] {
  const buffers = new Set<ArrayBufferLike>()
  const visit = (column: Column): void => {
    if (column.valid !== undefined) buffers.add(column.valid.buffer)
    switch (column.kind) {
      case 'fixed':
      case 'wide':
        buffers.add(column.values.buffer)
        break
      case 'bytes':
        buffers.add(column.data.buffer).add(column.offsets.buffer)
        break
      case 'list':
        buffers.add(column.offsets.buffer)
        visit(column.child)
        break
      case 'map':
        buffers.add(column.offsets.buffer)
        visit(column.keys)
        visit(column.values)
        break
      case 'row':
        column.children.forEach(visit)
        break
    }
  }
  for (const batch of batches) batch.columns.forEach(visit)
  return [...buffers]
}

function copyColumn(column: Column, allocate: Memory): Column {
  const length = column.length
  const valid = column.valid && copyArray(column.valid.subarray(0, length), allocate)
  switch (column.kind) {
    case 'fixed':
      return { kind: 'fixed', length, values: copyArray(column.values.subarray(0, length), allocate), valid }
    case 'wide':
      return { kind: 'wide', length, values: copyArray(column.values.subarray(0, length * 2), allocate), valid }
    case 'bytes': {
      const data = column.data.subarray(column.offsets[0]!, column.offsets[length]!)
      return { kind: 'bytes', length, data: copyArray(data, allocate), offsets: copyOffsets(column, allocate), valid }
    }
    case 'list':
      return {
        kind: 'list',
        length,
        offsets: copyOffsets(column, allocate),
        child: copyColumn(elements(column, column.child), allocate),
        valid,
      }
    case 'map':
      return {
        kind: 'map',
        length,
        offsets: copyOffsets(column, allocate),
        keys: copyColumn(elements(column, column.keys), allocate),
        values: copyColumn(elements(column, column.values), allocate),
        valid,
      }
    case 'row':
      return { kind: 'row', length, children: column.children.map((child) => copyColumn(child, allocate)), valid }
  }
}

function elements(parent: { readonly length: number; readonly offsets: Int32Array }, child: Column): Column {
  return sliceColumn(child, parent.offsets[0]!, parent.offsets[parent.length]!)
}

function copyOffsets(column: { readonly length: number; readonly offsets: Int32Array }, allocate: Memory): Int32Array {
  const offsets = copyArray(column.offsets.subarray(0, column.length + 1), allocate)
  const first = offsets[0]!
  if (first !== 0) for (let index = 0; index <= column.length; index++) offsets[index]! -= first
  return offsets
}

function copyArray<T extends FixedArray>(array: T, allocate: Memory): T {
  const copy = new (array.constructor as new (buffer: ArrayBufferLike) => T)(allocate(array.byteLength))
  ;(copy as Uint8Array).set(array as Uint8Array)
  return copy
}
