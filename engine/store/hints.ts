import { posix } from 'node:path'
import { ifPresent, withPath } from './errors.ts'
import { type Publisher, replace } from './publish.ts'

/**
 * `LATEST` and `EARLIEST` of a folder: a decimal number, no newline. A hint is never believed: whoever reads one tests it against
 * the files. Undefined when absent, empty, not a whole number above zero, or too large to be one.
 */
export async function readHint(
  { fs }: Publisher,
  folder: string,
  hint: 'LATEST' | 'EARLIEST',
): Promise<number | undefined> {
  const path = posix.join(folder, hint)
  const bytes = await ifPresent(() => withPath(path, () => fs.readFile(path)))
  if (bytes === undefined || bytes.length > 20) return undefined
  const text = new TextDecoder().decode(bytes)
  const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

/** Replaces a hint. LATEST may be stale or empty after a power cut; EARLIEST must not, since files below it go next. */
export async function writeHint(
  publisher: Publisher,
  folder: string,
  hint: 'LATEST' | 'EARLIEST',
  id: number,
): Promise<void> {
  const bytes = new TextEncoder().encode(String(id))
  await replace(publisher, posix.join(folder, hint), bytes, { durable: hint === 'EARLIEST' })
}
