import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ByteSource } from '../../formats/bytes/source.ts'
import { goldenFolder, goldenTable } from '../support/golden.ts'

/** Files of golden tables whose path fits, at most 8 a table, none of more than 64 KiB. */
export function goldenBytes(path: RegExp, ...tables: readonly string[]): readonly Uint8Array[] {
  return tables.flatMap((table) => filesIn(goldenTable(table), path).slice(0, 8))
}

/** The Parquet files of other writers. */
export function parquetFixtures(): readonly Uint8Array[] {
  return filesIn(join(goldenFolder, 'parquet'), /\.parquet$/)
}

function filesIn(folder: string, path: RegExp): Uint8Array[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .filter((name) => path.test(`/${name}`))
    .map((name) => new Uint8Array(readFileSync(join(folder, name))))
    .filter((bytes) => bytes.length <= 65536)
}

/** A file in memory. A read of what it does not hold is the decoder's fault, not damage. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    bytes: bytes.length,
    read(offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0 || !(length >= 0) || offset + length > bytes.length)
        throw new Error(`read of ${length} bytes at ${offset} in a file of ${bytes.length}`)
      return bytes.subarray(offset, offset + length)
    },
  }
}
