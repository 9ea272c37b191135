import { createMemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { readConsumer } from '../../engine/store/consumers.ts'
import { readHint } from '../../engine/store/hints.ts'
import { crc32 } from '../../formats/bytes/crc32.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { readRun, writeRun } from '../../formats/spill/run-file.ts'
import { allTypes, fieldsOf, randomColumn, seeded } from '../formats/column/support.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { memorySource } from './golden-bytes.ts'
import type { Target } from './targets.ts'

const codecs = loadCodecs()
const HEAD = 12

/** Raw frames of spill files: their checksums are set right after a change, or nothing would pass them. */
export function spillTarget(): Target {
  const random = seeded(1)
  const fields = fieldsOf(allTypes)
  const batches = [1, 5].map((rows) => ({
    fields,
    rows,
    columns: fields.map((field) => randomColumn(field.type, rows, random)),
  }))
  const parts: Uint8Array[] = []
  const steps = writeRun({ write: (bytes) => void parts.push(bytes.slice()) }, batches, codecs)
  while (steps.next().done !== true);
  // Magic, then head and stored bytes of each frame, then the end.
  const frames = [2, 4, 6].map((i) => {
    const rawBytes = new DataView(parts[i - 1]!.buffer).getUint32(4, true)
    return codecs.get('zstd').decompress(parts[i]!, rawBytes).slice()
  })
  const [head, ...blocks] = frames as [Uint8Array, ...Uint8Array[]]
  return {
    name: 'spill block',
    seeds: [head, ...blocks],
    decode: (bytes) => {
      for (const frames of [
        [bytes, blocks[0]!],
        [head, bytes],
      ]) {
        for (const _ of readRun(memorySource(fileOf(frames)), codecs));
      }
    },
  }
}

function fileOf(frames: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('LKS1')]
  for (const raw of frames) {
    const stored = codecs.get('zstd').compress(raw, 1)
    const head = new Uint8Array(HEAD)
    const view = new DataView(head.buffer)
    view.setUint32(0, stored.length, true)
    view.setUint32(4, raw.length, true)
    view.setUint32(8, crc32(stored, raw.length), true)
    parts.push(head, stored)
  }
  const end = new Uint8Array(HEAD + 8)
  end[HEAD] = 1
  return new Uint8Array(Buffer.concat([...parts, end]))
}

/** Reads it as a hint and as what a consumer left. */
export async function readMark(bytes: Uint8Array): Promise<void> {
  const fs = createMemoryFileSystem()
  fs.plant('/t/snapshot/LATEST', bytes)
  fs.plant('/t/consumer/consumer-c', bytes)
  await readHint({ fs, random: seededRandom(1) }, '/t/snapshot', 'LATEST')
  await readConsumer(fs, '/t/consumer/consumer-c')
}
