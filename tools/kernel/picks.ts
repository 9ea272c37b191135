import { decide, type PickOptions } from '../../engine/plan/pick.ts'
import { array, BadCase, integer, integerOrNull, type JsonObject, object } from './json.ts'

/** Answers a line of picks.jsonl: `pick` is null, or how many runs from the front and the output level. */
export function answerPick(line: unknown): JsonObject {
  const input = object(line, 'line')
  const runs = array(input.runs, 'runs').map((item) => {
    const pair = array(item, 'runs')
    if (pair.length !== 2) throw new BadCase('"runs" must hold [level, size] pairs')
    return { level: integer(pair[0], 'level'), bytes: integer(pair[1], 'size') }
  })
  const options: PickOptions = {
    trigger: integer(input.trigger, 'trigger'),
    numLevels: integer(input.numLevels, 'numLevels'),
    sizeRatio: integer(input.sizeRatio, 'sizeRatio'),
    maxSizeAmp: integer(input.maxSizeAmp, 'maxSizeAmp'),
    offPeakRatio: integer(input.offPeakRatio, 'offPeakRatio'),
    totalSizeThreshold: integerOrNull(input.totalSizeThreshold, 'totalSizeThreshold'),
    incrementalSizeThreshold: integerOrNull(input.incrementalSizeThreshold, 'incrementalSizeThreshold'),
    optimizationIntervalMillis: null,
    lastFullMillis: null,
    nowMillis: 0,
    forceUpLevel0: false,
  }
  const { unit } = decide(runs, options)
  return { ...input, pick: unit === null ? null : { runCount: unit.runCount, outputLevel: unit.outputLevel } }
}
