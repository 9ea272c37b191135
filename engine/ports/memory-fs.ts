import { posix } from 'node:path'
import { checkRange, fileError } from './file-error.ts'
import type { FileSystem, OpenSink, OpenSource } from './file-system.ts'
import {
  afterPowerCut,
  appendBytes,
  changeFolder,
  emptyFile,
  emptyFolder,
  type FileNode,
  type FolderNode,
  type MemoryNode,
  syncFolder,
} from './memory-nodes.ts'
import type { Random } from './random.ts'

/** A file system in memory, with what tests need beside the port. */
export interface MemoryFileSystem extends FileSystem {
  /**
   * The file system that a machine finds after its power was cut now: what was not synced is lost in part or whole, as
   * `random` has it. This one goes on unchanged, so that one run can be cut at many moments.
   */
  crash(random: Random): MemoryFileSystem
  /** Replaces the bytes of a file, or makes it with its folders, all durable: damage, and tables prepared for a test. */
  plant(path: string, bytes: Uint8Array): void
  /** Sets the modification time of a file. */
  setModified(path: string, millis: number): void
  /** Files open for reading or writing now: a test of leaks. */
  readonly openHandles: number
}

/** What a memory file system needs from outside: the time of modification of new files. Default always 0. */
export interface MemoryFileSystemOptions {
  readonly now?: () => number
}

/** An empty file system. It keeps the promises of the port, as `node-fs` does: one contract suite runs over both. */
export function createMemoryFileSystem(options: MemoryFileSystemOptions = {}): MemoryFileSystem {
  return new MemoryFiles(emptyFolder(), options.now ?? (() => 0))
}

class MemoryFiles implements MemoryFileSystem {
  readonly #root: FolderNode
  readonly #now: () => number
  openHandles = 0

  constructor(root: FolderNode, now: () => number) {
    this.#root = root
    this.#now = now
  }

  async readFile(path: string): Promise<Uint8Array> {
    const file = this.#file(path, 'open')
    return file.data.slice(0, file.bytes)
  }

  async createFile(path: string, bytes: Uint8Array, options: { readonly sync: boolean }): Promise<void> {
    const file = this.#create(path)
    appendBytes(file, bytes)
    if (options.sync) file.durableBytes = file.bytes
  }

  async syncFile(path: string): Promise<void> {
    const file = this.#file(path, 'open')
    file.durableBytes = file.bytes
  }

  async link(from: string, to: string): Promise<void> {
    const file = this.#file(from, 'link')
    const { folder, name } = this.#parent(to, 'link')
    if (folder.entries.has(name)) throw fileError('EEXIST', 'link', to)
    changeFolder(folder, [{ name, node: file }])
  }

  async rename(from: string, to: string): Promise<void> {
    const source = this.#parent(from, 'rename')
    const node = source.folder.entries.get(source.name)
    if (node === undefined) throw fileError('ENOENT', 'rename', from)
    const target = this.#parent(to, 'rename')
    const replaced = target.folder.entries.get(target.name)
    if (replaced === node) return
    if (replaced !== undefined) checkReplaceable(node, replaced, to)
    if (source.folder === target.folder) {
      changeFolder(source.folder, [
        { name: source.name, node: undefined },
        { name: target.name, node },
      ])
      return
    }
    changeFolder(target.folder, [{ name: target.name, node }])
    changeFolder(source.folder, [{ name: source.name, node: undefined }])
  }

  async unlink(path: string): Promise<void> {
    this.#file(path, 'unlink')
    const { folder, name } = this.#parent(path, 'unlink')
    changeFolder(folder, [{ name, node: undefined }])
  }

  async removeDirectory(path: string): Promise<void> {
    if (this.#folder(path, 'rmdir').entries.size > 0) throw fileError('ENOTEMPTY', 'rmdir', path)
    const { folder, name } = this.#parent(path, 'rmdir')
    changeFolder(folder, [{ name, node: undefined }])
  }

  async makeDirectory(path: string): Promise<void> {
    this.#makeFolders(path)
    this.#syncChain(path)
  }

  async list(path: string) {
    return [...this.#folder(path, 'scandir').entries].map(([name, node]) => ({ name, kind: node.kind }))
  }

  async stat(path: string) {
    const node = this.#find(path)
    if (node === undefined) return undefined
    return node.kind === 'file'
      ? { bytes: node.bytes, modifiedMillis: node.modifiedMillis }
      : { bytes: 0, modifiedMillis: 0 }
  }

  async syncDirectory(path: string): Promise<void> {
    this.#folder(path, 'fsync')
    this.#syncChain(path)
  }

  async realPath(path: string): Promise<string> {
    if (this.#find(path) === undefined) throw fileError('ENOENT', 'realpath', path)
    return `/${namesOf(path).join('/')}`
  }

  openSource(path: string): OpenSource {
    const file = this.#file(path, 'open')
    const bytes = file.bytes
    let open = true
    this.openHandles++
    return {
      bytes,
      read(offset, length) {
        if (!open) throw fileError('EBADF', 'read', path)
        checkRange(offset, length, bytes, path)
        return file.data.subarray(offset, offset + length)
      },
      close: () => {
        if (open) this.openHandles--
        open = false
      },
    }
  }

  createSink(path: string): OpenSink {
    this.#makeFolders(posix.dirname(path))
    const file = this.#create(path)
    let open = true
    this.openHandles++
    const checkOpen = (syscall: string) => {
      if (!open) throw fileError('EBADF', syscall, path)
    }
    return {
      get bytesWritten() {
        return file.bytes
      },
      write: (bytes) => {
        checkOpen('write')
        appendBytes(file, bytes)
        file.modifiedMillis = this.#now()
      },
      sync: () => {
        checkOpen('fsync')
        file.durableBytes = file.bytes
        this.#syncChain(posix.dirname(path))
      },
      close: () => {
        if (open) this.openHandles--
        open = false
      },
    }
  }

  crash(random: Random): MemoryFileSystem {
    return new MemoryFiles(afterPowerCut(this.#root, random), this.#now)
  }

  plant(path: string, bytes: Uint8Array): void {
    this.#makeFolders(posix.dirname(path))
    const { folder, name } = this.#parent(path, 'open')
    const file = emptyFile(this.#now())
    appendBytes(file, bytes)
    file.durableBytes = file.bytes
    folder.entries.set(name, file)
    this.#syncChain(posix.dirname(path))
  }

  setModified(path: string, millis: number): void {
    this.#file(path, 'utimes').modifiedMillis = millis
  }

  #find(path: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root
    for (const name of namesOf(path)) {
      if (node === undefined || node.kind === 'file') return undefined
      node = node.entries.get(name)
    }
    return node
  }

  #file(path: string, syscall: string): FileNode {
    const node = this.#find(path)
    if (node === undefined) throw fileError('ENOENT', syscall, path)
    if (node.kind !== 'file') throw fileError('EISDIR', syscall, path)
    return node
  }

  #folder(path: string, syscall: string): FolderNode {
    const node = this.#find(path)
    if (node === undefined) throw fileError('ENOENT', syscall, path)
    if (node.kind === 'file') throw fileError('ENOTDIR', syscall, path)
    return node
  }

  #parent(path: string, syscall: string): { readonly folder: FolderNode; readonly name: string } {
    const names = namesOf(path)
    const name = names.pop()
    if (name === undefined) throw fileError('EBUSY', syscall, path)
    return { folder: this.#folder(`/${names.join('/')}`, syscall), name }
  }

  #create(path: string): FileNode {
    const { folder, name } = this.#parent(path, 'open')
    if (folder.entries.has(name)) throw fileError('EEXIST', 'open', path)
    const file = emptyFile(this.#now())
    changeFolder(folder, [{ name, node: file }])
    return file
  }

  #makeFolders(path: string): void {
    let folder = this.#root
    for (const name of namesOf(path)) {
      let child = folder.entries.get(name)
      if (child === undefined) {
        child = emptyFolder()
        changeFolder(folder, [{ name, node: child }])
      }
      if (child.kind === 'file') throw fileError('ENOTDIR', 'mkdir', path)
      folder = child
    }
  }

  /** The folder's entries and every folder above it, as `node-fs` does before it calls a file durable. */
  #syncChain(path: string): void {
    syncFolder(this.#root)
    let folder = this.#root
    for (const name of namesOf(path)) {
      const child = folder.entries.get(name)
      if (child?.kind !== 'directory') throw fileError('ENOENT', 'fsync', path)
      syncFolder(child)
      folder = child
    }
  }
}

function namesOf(path: string): string[] {
  if (!path.startsWith('/')) throw fileError('EINVAL', 'path', path)
  return posix
    .normalize(path)
    .split('/')
    .filter((name) => name !== '')
}

function checkReplaceable(node: MemoryNode, replaced: MemoryNode, to: string): void {
  if (node.kind === 'file' && replaced.kind === 'directory') throw fileError('EISDIR', 'rename', to)
  if (node.kind === 'directory' && replaced.kind === 'file') throw fileError('ENOTDIR', 'rename', to)
  if (replaced.kind === 'directory' && replaced.entries.size > 0) throw fileError('ENOTEMPTY', 'rename', to)
}
