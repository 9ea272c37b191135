import { readFileSync } from 'node:fs'

/** Text of the fenced block of a page in docs/format that opens with this info, as in ```hex rows. */
export function pageBlock(page: string, info: string): string {
  const text = readFileSync(new URL(`../../docs/format/${page}`, import.meta.url), 'utf8')
  const block = text.split(`\`\`\`${info}\n`)[1]?.split('\n```')[0]
  if (block === undefined) throw new Error(`docs/format/${page} has no block "${info}"`)
  return block
}

/** Bytes of a hex dump with `offset:` in front of each line. */
export function dumpBytes(dump: string): Uint8Array {
  const lines = dump.trim().split('\n')
  return Buffer.from(lines.map((line) => line.replace(/^[0-9a-f]+:/, '').replaceAll(' ', '')).join(''), 'hex')
}
