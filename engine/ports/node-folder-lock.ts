import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, fileErrorCode } from './file-error.ts'

/** Gives a lock back. */
export type Release = () => Promise<void>

/** Flags of BSD's `open`, which Node hands on but does not name. */
const O_EXLOCK = 0x20

/**
 * Locks a folder for one caller on this machine; undefined when another has it, in this process or elsewhere. The kernel holds
 * the lock and lets go of it with the process, however that ends: no lock of a dead process is ever left. `ENOTSUP` on a platform
 * without such a lock. It does not keep the process alive. What it needs of Node is loaded
 * here: few warehouses are locked.
 */
export async function lockFolder(folder: string): Promise<Release | undefined> {
  const { createHash } = await import('node:crypto')
  const name = `lakelet-${createHash('sha256').update(folder).digest('hex')}`
  switch (process.platform) {
    case 'linux':
      return lockName(`\0${name}`)
    case 'win32':
      return lockName(String.raw`\\.\pipe\${name}`)
    case 'darwin':
    case 'freebsd':
    case 'openbsd':
      return lockFile(join(folder, '.lakelet-lock'))
    default:
      throw fileError('ENOTSUP', 'lock', folder)
  }
}

/** A name that belongs to who listens on it: an abstract socket of Linux, a pipe of Windows. */
async function lockName(path: string): Promise<Release | undefined> {
  const { createServer } = await import('node:net')
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.once('error', (error) => (fileErrorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    // `exclusive`: workers of a cluster would share the name else.
    server.listen({ path, exclusive: true }, () => resolve(() => new Promise((closed) => server.close(() => closed()))))
  })
}

async function lockFile(path: string): Promise<Release | undefined> {
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK)
    return () => file.close()
  } catch (error) {
    if (fileErrorCode(error) === 'EAGAIN') return undefined
    throw error
  }
}
