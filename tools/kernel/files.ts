import type { KeyCompare, Section } from '../../engine/plan/types.ts'
import type { DataFile, SimpleStats } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { array, integer, integerOrNull, object, text } from './json.ts'

const keyTypes: readonly DataType[] = [{ kind: 'bigint', nullable: false }]

const noStats: SimpleStats = { min: new Uint8Array(4), max: new Uint8Array(4), nullCounts: [] }

/** Order of the keys that `parseFiles` makes: rows of one BIGINT. */
export const compareKeys: KeyCompare = rowCompare(keyTypes)

/** The files of a case as the planner takes them. Throws when a field is missing or of the wrong kind. */
export function parseFiles(value: unknown): readonly DataFile[] {
  return array(value, 'files').map((item) => {
    const file = object(item, 'files')
    return {
      name: text(file.name, 'name'),
      bytes: integer(file.size, 'size'),
      rows: 1,
      minKey: key(file.min, 'min'),
      maxKey: key(file.max, 'max'),
      keyStats: noStats,
      valueStats: noStats,
      minSequence: BigInt(integer(file.minSeq, 'minSeq')),
      maxSequence: BigInt(integer(file.maxSeq, 'maxSeq')),
      schemaId: 0,
      level: integer(file.level, 'level'),
      extraFiles: [],
      creationMillis: null,
      deleteRows: integerOrNull(file.deletes, 'deletes'),
      embeddedIndex: null,
      source: null,
      valueStatsColumns: null,
      externalPath: null,
      firstRowId: null,
      writeColumns: null,
    }
  })
}

/** Sections as names: section → sorted run → file names. */
export function namesOf(sections: readonly Section[]): readonly (readonly (readonly string[])[])[] {
  return sections.map((section) => section.map((run) => run.files.map((file) => file.name)))
}

function key(value: unknown, name: string): Uint8Array {
  return serializeRow(keyTypes, [BigInt(integer(value, name))])
}
