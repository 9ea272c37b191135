import type { Scalar } from '../../formats/column/column.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import { bucketId, partitionId } from '../plan/entry-id.ts'
import { buildLevels, type Levels } from '../plan/levels.ts'
import { hidesLevel0, withoutLevel0 } from '../plan/visible.ts'
import type { PartitionView, TableView } from '../store/view.ts'
import type { TableCore } from './core.ts'

/** One bucket, and its files in one view. */
export interface BucketPlace {
  readonly partition: Uint8Array
  readonly bucket: number
  /** Its `bucketId`. */
  readonly id: string
  /** The files that reads look at; undefined when it holds no files. */
  readonly levels: Levels | undefined
}

/** One partition in one view. */
interface PartitionPlace {
  /** How many fixed buckets it was written with, whatever the option says now; 0 or less: dynamic ones. */
  readonly total: number
  /** Those that hold files. */
  readonly buckets: readonly BucketPlace[]
  bucket(bucket: number): BucketPlace
  /** Bucket 0 alone. */
  readonly only: readonly BucketPlace[]
}

/** Where keys may be, worked out once for each partition and bucket of a view. */
export class Places {
  readonly #core: TableCore
  readonly #known = new WeakMap<TableView, Map<string, PartitionPlace>>()
  readonly #noPartition: { readonly partition: Uint8Array; readonly id: string }

  constructor(core: TableCore) {
    this.#core = core
    const partition = serializeRow([], [])
    this.#noPartition = { partition, id: partitionId(partition) }
  }

  /** `values` of the partition columns. */
  ofPartition(values: readonly Scalar[], view: TableView | undefined): PartitionPlace {
    let { partition, id } = this.#noPartition
    if (values.length > 0) {
      partition = serializeRow(this.#core.partitionTypes, values)
      id = partitionId(partition)
    }
    return this.#place(partition, id, view)
  }

  /** Every bucket of a view that holds files. */
  *ofView(view: TableView | undefined): Generator<BucketPlace> {
    for (const [id, { partition }] of view?.partitions ?? []) yield* this.#place(partition, id, view).buckets
  }

  #place(partition: Uint8Array, id: string, view: TableView | undefined): PartitionPlace {
    let known = view && this.#known.get(view)
    const place = known?.get(id)
    if (place !== undefined) return place
    const files = view?.partitions.get(id)
    const made = this.#make(partition, files)
    // Partitions that do not exist are not remembered: there is no end of them.
    if (view === undefined || files === undefined) return made
    if (known === undefined) {
      known = new Map()
      this.#known.set(view, known)
    }
    known.set(id, made)
    return made
  }

  #make(partition: Uint8Array, files: PartitionView | undefined): PartitionPlace {
    const { options, compareKeys } = this.#core
    const made = new Map<number, BucketPlace>()
    const make = (bucket: number): BucketPlace => {
      const of = files?.buckets.get(bucket)
      const all = of && buildLevels(of.files, options['num-levels'], compareKeys)
      const levels = all && hidesLevel0(options) ? withoutLevel0(all) : all
      return { partition, bucket, id: bucketId({ partition, bucket }), levels }
    }
    const place = (bucket: number): BucketPlace => {
      let found = made.get(bucket)
      if (found === undefined) {
        found = make(bucket)
        made.set(bucket, found)
      }
      return found
    }
    const present = [...(files?.buckets.keys() ?? [])].filter((bucket) => bucket >= 0)
    const total = present.length === 0 ? options.bucket : files!.buckets.get(present[0]!)!.totalBuckets
    const only = total === 1 ? [place(0)] : []
    return {
      total,
      get buckets() {
        return present.map(place)
      },
      bucket: place,
      only,
    }
  }
}
