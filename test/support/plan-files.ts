import type { KeyCompare, Section } from '../../engine/plan/types.ts'
import type { DataFile, ManifestEntry, SimpleStats } from '../../formats/meta/types.ts'

const noStats: SimpleStats = { min: new Uint8Array(), max: new Uint8Array(), nullCounts: [] }

/** Twelve zero bytes: the partition of a table without partition columns. */
export const noPartition = new Uint8Array(12)

/** A key of one integer, big endian with the sign flipped, so that `compareBytes` orders it. Planners never look inside. */
function key(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value) + 2n ** 63n)
  return bytes
}

export const compareBytes: KeyCompare = (a, b) => Buffer.compare(a, b)

/** A partition of one small number. */
export function partition(value: number): Uint8Array {
  return Uint8Array.of(0, 0, 0, 1, value)
}

export interface FileShape {
  readonly name: string
  readonly level?: number
  readonly bytes?: number
  readonly min?: number
  readonly max?: number
  readonly seq?: readonly [number, number]
  readonly deletes?: number | null
  readonly rows?: number
}

/** A data file for planners: what they look at comes from `shape`, the rest is empty. */
export function file(shape: FileShape): DataFile {
  const min = shape.min ?? 0
  return {
    name: shape.name,
    bytes: shape.bytes ?? 1,
    rows: shape.rows ?? 1,
    minKey: key(min),
    maxKey: key(shape.max ?? min),
    keyStats: noStats,
    valueStats: noStats,
    minSequence: BigInt(shape.seq?.[0] ?? 0),
    maxSequence: BigInt(shape.seq?.[1] ?? shape.seq?.[0] ?? 0),
    schemaId: 0,
    level: shape.level ?? 0,
    extraFiles: [],
    creationMillis: 0,
    deleteRows: shape.deletes === undefined ? 0 : shape.deletes,
    embeddedIndex: null,
    source: 'append',
    valueStatsColumns: null,
    externalPath: null,
    firstRowId: null,
    writeColumns: null,
  }
}

/** A manifest entry in bucket 0 of 1 without partition, unless `where` says otherwise. */
export function entry(
  kind: 'add' | 'delete',
  dataFile: DataFile,
  where: { partition?: Uint8Array; bucket?: number; totalBuckets?: number } = {},
): ManifestEntry {
  return { kind, partition: noPartition, bucket: 0, totalBuckets: 1, ...where, file: dataFile }
}

const MB = 1024 ** 2

/** `A [1,10] 5MB L0 seq=3..9 deletes=2`, a file a line; size, level, sequences and deletes may be left out. */
export function parseFiles(input: string): readonly DataFile[] {
  if (input === 'empty') return []
  return input.split('\n').map((line) => {
    const [, name, min, max] = /^(\S+) \[(-?\d+),(-?\d+)\]/.exec(line) ?? []
    if (name === undefined) throw new Error(`not a file: ${line}`)
    const deletes = /deletes=(\S+)/.exec(line)?.[1]
    const seq = /seq=(\d+)\.\.(\d+)/.exec(line)
    return file({
      name,
      min: Number(min),
      max: Number(max),
      bytes: Number(/ (\d+)MB/.exec(line)?.[1] ?? 1) * MB,
      level: Number(/ L(\d+)/.exec(line)?.[1] ?? 0),
      seq: seq === null ? [0, 0] : [Number(seq[1]), Number(seq[2])],
      deletes: deletes === undefined ? 0 : deletes === 'unknown' ? null : Number(deletes),
    })
  })
}

/** `{a c / b} {d}`: a section in braces, its runs between slashes. */
export function printSections(sections: readonly Section[]): string {
  return sections.map((s) => `{${s.map((run) => run.files.map((f) => f.name).join(' ')).join(' / ')}}`).join(' ')
}
