/** What happened in a run, to see that it tested what it should. */
export interface Tally {
  readonly levels: Set<number>
  rewrites: number
  upgrades: number
  spills: number
  stalls: number
  /** Commits that found their snapshot's name taken and tried again. */
  retries: number
  /** Compactions dropped because another writer changed what they read. */
  conflicts: number
  expired: number
  snapshots: number
  operations: number
}

export const newTally = (): Tally => ({
  levels: new Set(),
  rewrites: 0,
  upgrades: 0,
  spills: 0,
  stalls: 0,
  retries: 0,
  conflicts: 0,
  expired: 0,
  snapshots: 0,
  operations: 0,
})

/** Adds what one run met to another's. */
export function addTally(to: Tally, from: Tally): void {
  for (const level of from.levels) to.levels.add(level)
  for (const what of counts) to[what] += from[what]
}

const counts = [
  'rewrites',
  'upgrades',
  'spills',
  'stalls',
  'retries',
  'conflicts',
  'expired',
  'snapshots',
  'operations',
] as const
