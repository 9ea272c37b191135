import type { FileSystem, OpenSink, OpenSource } from '../../engine/ports/file-system.ts'

/** A file system whose calls can be made to fail, and that counts them. */
export interface FaultyFileSystem extends FileSystem {
  /** Calls so far, in order: `unlink /t/a`. A sink's writes and syncs count too. */
  readonly calls: readonly string[]
}

/** What happens to a call: pass it on, fail before it, or do it and fail all the same (a lost answer). */
export type Verdict = 'pass' | 'fail' | 'fail after'

/** Wraps `fs`; `decide` sees the number of each call (from 0) and its text. `code` is that of the errors. */
export function faultyFileSystem(
  fs: FileSystem,
  decide: (call: number, text: string) => Verdict,
  code = 'EIO',
): FaultyFileSystem {
  const calls: string[] = []
  const judge = (syscall: string, path: string) => {
    const text = `${syscall} ${path}`
    const verdict = decide(calls.length, text)
    calls.push(text)
    const error = Object.assign(new Error(`${code}: injected, ${text}`), { code, syscall, path })
    return { verdict, error }
  }
  const around = async <T>(syscall: string, path: string, run: () => Promise<T>): Promise<T> => {
    const { verdict, error } = judge(syscall, path)
    if (verdict === 'fail') throw error
    const result = await run()
    if (verdict === 'fail after') throw error
    return result
  }
  const aroundSync = <T>(syscall: string, path: string, run: () => T): T => {
    const { verdict, error } = judge(syscall, path)
    if (verdict === 'fail') throw error
    const result = run()
    if (verdict === 'fail after') throw error
    return result
  }
  return {
    calls,
    readFile: (path) => around('read', path, () => fs.readFile(path)),
    createFile: (path, bytes, options) => around('create', path, () => fs.createFile(path, bytes, options)),
    syncFile: (path) => around('fsync', path, () => fs.syncFile(path)),
    link: (from, to) => around('link', to, () => fs.link(from, to)),
    rename: (from, to) => around('rename', to, () => fs.rename(from, to)),
    unlink: (path) => around('unlink', path, () => fs.unlink(path)),
    removeDirectory: (path) => around('rmdir', path, () => fs.removeDirectory(path)),
    makeDirectory: (path) => around('mkdir', path, () => fs.makeDirectory(path)),
    list: (path) => around('list', path, () => fs.list(path)),
    stat: (path) => around('stat', path, () => fs.stat(path)),
    syncDirectory: (path) => around('fsync', path, () => fs.syncDirectory(path)),
    realPath: (path) => around('realpath', path, () => fs.realPath(path)),
    openSource: (path) =>
      faultySource(
        aroundSync('open', path, () => fs.openSource(path)),
        path,
        aroundSync,
      ),
    createSink: (path) =>
      faultySink(
        aroundSync('create', path, () => fs.createSink(path)),
        path,
        aroundSync,
      ),
  }
}

/** Fails the call with one number, once. */
export function failAt(call: number, verdict: Verdict = 'fail'): (call: number) => Verdict {
  return (current) => (current === call ? verdict : 'pass')
}

/** Fails every call from a number on: the process is gone. */
export function failFrom(call: number): (call: number) => Verdict {
  return (current) => (current >= call ? 'fail' : 'pass')
}

type Around = <T>(syscall: string, path: string, run: () => T) => T

function faultySource(source: OpenSource, path: string, around: Around): OpenSource {
  return {
    bytes: source.bytes,
    read: (offset, length) => around('pread', path, () => source.read(offset, length)),
    close: () => source.close(),
  }
}

function faultySink(sink: OpenSink, path: string, around: Around): OpenSink {
  return {
    get bytesWritten() {
      return sink.bytesWritten
    },
    write: (bytes) => around('write', path, () => sink.write(bytes)),
    sync: () => around('fsync', path, () => sink.sync()),
    close: () => sink.close(),
  }
}
