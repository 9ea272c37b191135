import { trimmedPrimaryKey } from '../../engine/plan/kv-layout.ts'
import type { BucketView, TableView } from '../../engine/store/view.ts'
import { bucketsOf } from '../../engine/store/view.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import { filesByBucket, type Observer } from './observer.ts'

/**
 * The invariants of docs/adr and the engine's comments that files alone can show, for one snapshot and the one before it: I3 files of
 * a level above 0 do not overlap, I4 sequence numbers of a bucket only grow, I5 a file holds a key once, I8 what a snapshot takes
 * away was live. (I1, I2 and I6 are checked by who compares contents: see `Ledger`.)
 */
export async function checkInvariants(
  observer: Observer,
  before: TableView | undefined,
  view: TableView,
): Promise<void> {
  const schema = await observer.schema
  const { id, commitKind } = view.snapshot
  const compare = rowCompare(trimmedPrimaryKey(schema).map((field) => field.type))
  const old = before === undefined ? new Map<string, BucketView>() : filesByBucket(before)
  for (const [name, bucket] of filesByBucket(view)) {
    checkLevels(bucket, compare, id)
    const known = new Set((old.get(name)?.files ?? []).map((file) => file.name))
    const added = bucket.files.filter((file) => !known.has(file.name))
    for (const file of added) await checkFile(observer, bucket, file)
    if (commitKind !== 'APPEND') continue
    const highest = largest((old.get(name)?.files ?? []).map((file) => file.maxSequence))
    const lowest = added.map((file) => file.minSequence).sort((a, b) => (a < b ? -1 : 1))[0]
    if (highest !== undefined && lowest !== undefined && lowest <= highest) {
      throw new Error(`I4: snapshot ${id} appends sequence number ${lowest} to bucket ${name}, which has ${highest}`)
    }
  }
  if (before === undefined) return
  const live = new Set([...bucketsOf(before)].flatMap(({ files }) => files.map((file) => `${file.name} ${file.level}`)))
  for (const { kind, file } of await observer.store.manifests.deltaEntries(view.snapshot)) {
    if (kind === 'delete' && !live.has(`${file.name} ${file.level}`)) {
      throw new Error(`I8: snapshot ${id} takes away ${file.name} of level ${file.level}, which was not live`)
    }
    if (kind === 'delete' && commitKind === 'APPEND')
      throw new Error(`snapshot ${id} is an APPEND and takes away ${file.name}`)
  }
}

function checkLevels({ files }: BucketView, compare: (a: Uint8Array, b: Uint8Array) => number, id: number): void {
  for (const level of new Set(files.map((file) => file.level))) {
    if (level === 0) continue
    const run = files.filter((file) => file.level === level).sort((a, b) => compare(a.minKey, b.minKey))
    for (const [at, file] of run.slice(1).entries()) {
      if (compare(run[at]!.maxKey, file.minKey) >= 0) {
        throw new Error(`I3: in snapshot ${id}, ${run[at]!.name} and ${file.name} of level ${level} overlap`)
      }
    }
  }
}

async function checkFile(observer: Observer, bucket: BucketView, file: DataFile): Promise<void> {
  const records = await observer.records(bucket, file)
  for (const [at, { k }] of records.slice(1).entries()) {
    if (records[at]!.k >= k) throw new Error(`I5: ${file.name} holds key ${k} after key ${records[at]!.k}`)
  }
  const sequences = records.map(({ sequence }) => sequence)
  if (records.length !== file.rows || sequences.some((one) => one < file.minSequence || one > file.maxSequence)) {
    throw new Error(
      `${file.name} holds ${records.length} rows, its entry says ${file.rows}, or its sequence numbers differ`,
    )
  }
}

function largest(numbers: readonly bigint[]): bigint | undefined {
  return numbers.reduce<bigint | undefined>((most, one) => (most === undefined || one > most ? one : most), undefined)
}
