import type { DataFile } from '../../formats/meta/types.ts'
import { buildLevels, filesOf, type Levels } from './levels.ts'

/** The options that decide what reads look at. */
export interface VisibilityOptions {
  readonly 'deletion-vectors.enabled': boolean
  readonly 'merge-engine': string
}

/**
 * Whether reads leave level 0 out. With deletion vectors the rows of upper levels are marked when newer ones leave level 0; what lies
 * there has not met them yet, and shows with the compaction that moves it up. So it is with the engine first-row, whose upper levels hold
 * a key once.
 */
export function hidesLevel0(options: VisibilityOptions): boolean {
  return options['deletion-vectors.enabled'] || options['merge-engine'] === 'first-row'
}

/** The files without those of level 0 that `shows` does not name. The same object when nothing is left out. */
export function withoutLevel0(levels: Levels, shows: (file: DataFile) => boolean = () => false): Levels {
  const files = filesOf(levels)
  const kept = files.filter((file) => file.level > 0 || shows(file))
  return kept.length === files.length ? levels : buildLevels(kept, levels.numLevels, levels.compareKeys)
}
