import type { Random } from './random.ts'

/** A file's content. Files only grow; `durableBytes` of them are on the disk, the rest only in its cache. */
export interface FileNode {
  readonly kind: 'file'
  data: Uint8Array
  bytes: number
  durableBytes: number
  modifiedMillis: number
}

/** One change of a folder that a power cut may undo as a whole: a rename takes one name away and gives another. */
export type PendingChange = readonly { readonly name: string; readonly node: MemoryNode | undefined }[]

/** A folder as programs see it, as the disk has it, and the changes between the two in order. */
export interface FolderNode {
  readonly kind: 'directory'
  readonly entries: Map<string, MemoryNode>
  durable: Map<string, MemoryNode>
  pending: PendingChange[]
}

export type MemoryNode = FileNode | FolderNode

/** A folder without entries. */
export function emptyFolder(): FolderNode {
  return { kind: 'directory', entries: new Map(), durable: new Map(), pending: [] }
}

/** A file without bytes. */
export function emptyFile(modifiedMillis: number): FileNode {
  return { kind: 'file', data: new Uint8Array(0), bytes: 0, durableBytes: 0, modifiedMillis }
}

/** Appends; the array doubles, so that earlier reads keep their (unchanged) bytes. */
export function appendBytes(file: FileNode, bytes: Uint8Array): void {
  const needed = file.bytes + bytes.length
  if (needed > file.data.length) {
    const grown = new Uint8Array(Math.max(needed, file.data.length * 2, 64))
    grown.set(file.data.subarray(0, file.bytes))
    file.data = grown
  }
  file.data.set(bytes, file.bytes)
  file.bytes = needed
}

/** Applies a change to the entries that programs see; it waits for `syncFolder`. */
export function changeFolder(folder: FolderNode, change: PendingChange): void {
  applyChange(folder.entries, change)
  folder.pending.push(change)
}

/** fsync of a folder. */
export function syncFolder(folder: FolderNode): void {
  folder.durable = new Map(folder.entries)
  folder.pending = []
}

/**
 * What the disk holds after a power cut: of each folder the synced entries and any subset of the changes since, of each
 * file the synced bytes and any part of the rest, which may also have turned into zeros (a length that reached the disk
 * before its data). Hard links stay links.
 */
export function afterPowerCut(root: FolderNode, random: Random): FolderNode {
  const copies = new Map<MemoryNode, MemoryNode>()
  const copy = (node: MemoryNode): MemoryNode => {
    const known = copies.get(node)
    if (known !== undefined) return known
    if (node.kind === 'file') {
      const file = cutFile(node, random)
      copies.set(node, file)
      return file
    }
    const folder = emptyFolder()
    copies.set(node, folder)
    const kept = new Map(node.durable)
    for (const change of node.pending) if (random.fraction() < 0.5) applyChange(kept, change)
    for (const [name, child] of kept) folder.entries.set(name, copy(child))
    syncFolder(folder)
    return folder
  }
  return copy(root) as FolderNode
}

function applyChange(entries: Map<string, MemoryNode>, change: PendingChange): void {
  for (const { name, node } of change) {
    if (node === undefined) entries.delete(name)
    else entries.set(name, node)
  }
}

function cutFile(file: FileNode, random: Random): FileNode {
  const unsynced = file.bytes - file.durableBytes
  const kept = file.durableBytes + Math.floor(random.fraction() * (unsynced + 1))
  const data = file.data.slice(0, kept)
  if (random.fraction() < 0.25) data.fill(0, file.durableBytes)
  return { kind: 'file', data, bytes: kept, durableBytes: kept, modifiedMillis: file.modifiedMillis }
}
