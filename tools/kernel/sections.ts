import { partitionIntoSections } from '../../engine/plan/sections.ts'
import { compareKeys, namesOf, parseFiles } from './files.ts'
import { type JsonObject, object } from './json.ts'

/** Answers a line of sections.jsonl: `sections`, section → sorted run → file names. */
export function answerSections(line: unknown): JsonObject {
  const input = object(line, 'line')
  return { ...input, sections: namesOf(partitionIntoSections(parseFiles(input.files), compareKeys)) }
}
