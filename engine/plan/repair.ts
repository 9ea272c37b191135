/** What a repair goes by. */
export interface RepairInput {
  /** Ids of all snapshot files, and whether all that each needs is whole. */
  readonly snapshots: readonly { readonly id: number; readonly whole: boolean }[]
  /** Tags that can be read, and of which snapshot they are. */
  readonly tags: readonly { readonly name: string; readonly snapshotId: number }[]
}

/** Which snapshot becomes the newest, and what makes room for it, in the order in which it goes. */
export interface RepairPlan {
  /** Undefined: no snapshot is whole. */
  readonly to: number | undefined
  readonly tags: readonly string[]
  readonly snapshots: readonly number[]
}

/**
 * Back to the newest whole snapshot, as Paimon rolls back: later snapshots go, and tags of later ones, whose files a new history
 * would not know of. The newest go first: broken off anywhere, the table has a newest snapshot and no gap.
 */
export function planRepair({ snapshots, tags }: RepairInput): RepairPlan {
  const to = snapshots.findLast(({ whole }) => whole)?.id
  if (to === undefined) return { to, tags: [], snapshots: [] }
  const later = snapshots.filter(({ id }) => id > to).map(({ id }) => id)
  return {
    to,
    tags: later.length === 0 ? [] : tags.filter(({ snapshotId }) => snapshotId > to).map(({ name }) => name),
    snapshots: later.toReversed(),
  }
}
