import { inputsOf, planSteps } from '../../engine/plan/steps.ts'
import { compareKeys, namesOf, parseFiles } from './files.ts'
import { boolean, integer, type JsonObject, object } from './json.ts'

/** Answers a line of tasks.jsonl: `calls` in order, and `before`, the files taken out. */
export function answerTask(line: unknown): JsonObject {
  const input = object(line, 'line')
  const level = integer(input.outputLevel, 'outputLevel')
  const dropDelete = boolean(input.dropDelete, 'dropDelete')
  const options = {
    outputLevel: level,
    maxLevel: integer(input.maxLevel, 'maxLevel'),
    minFileSize: integer(input.minFileSize, 'minFileSize'),
    forceRewriteAllFiles: boolean(input.forceRewriteAllFiles, 'forceRewriteAllFiles'),
  }
  const steps = planSteps(parseFiles(input.files), options, compareKeys)
  const calls = steps.map((step) =>
    step.kind === 'upgrade'
      ? { upgrade: step.file.name, level }
      : { rewrite: namesOf(step.sections), level, dropDelete },
  )
  return { ...input, calls, before: inputsOf(steps).map((file) => file.name) }
}
