import { readFileSync } from 'node:fs'
import t from 'tap'
import { partitionIntoSections } from '../../../engine/plan/sections.ts'
import { inputsOf, minFileSize, planSteps, rewriteEach } from '../../../engine/plan/steps.ts'
import type { Step } from '../../../engine/plan/types.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import { answerSections } from '../../../tools/kernel/sections.ts'
import { answerTask } from '../../../tools/kernel/tasks.ts'
import { dataDriven } from '../../support/data-driven.ts'
import { compareBytes, file, parseFiles, printSections } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const MB = 1024 ** 2

function printStep(step: Step): string {
  return step.kind === 'upgrade' ? `upgrade ${step.file.name}` : `rewrite ${printSections(step.sections)}`
}

dataDriven('test/testdata/sections.txt', ({ command, args, input }) => {
  if (command === 'sections') return printSections(partitionIntoSections(parseFiles(input), compareBytes))
  const steps = planSteps(
    parseFiles(input),
    {
      outputLevel: Number(args.output),
      maxLevel: Number(args.max ?? 5),
      minFileSize: minFileSize(128 * MB),
      forceRewriteAllFiles: args.force === 'true',
      holdsExpired: (f) => f.name === args.expired,
    },
    compareBytes,
  )
  return steps.length === 0 ? 'nothing' : steps.map(printStep).join('\n')
})

t.test('minFileSize divides in integers first', async (t) => {
  t.equal(minFileSize(128 * MB), 93952404)
  t.equal(minFileSize(19), 7)
  t.equal(minFileSize(9), 0)
})

interface GoldenFile {
  readonly name: string
  readonly min: number
  readonly max: number
}

/** The golden rule for sections: the same files in each, disjoint runs, as many runs. */
function sameSections(
  actual: readonly (readonly (readonly string[])[])[],
  expected: readonly (readonly (readonly string[])[])[],
  files: readonly GoldenFile[],
): boolean {
  const byName = new Map(files.map((f) => [f.name, f]))
  const disjoint = (run: readonly string[]) =>
    run.every((name, i) => i === 0 || byName.get(run[i - 1])!.max < byName.get(name)!.min)
  const members = (section: readonly (readonly string[])[]) => section.flat().sort().join()
  return (
    actual.length === expected.length &&
    actual.every(
      (section, i) =>
        section.length === expected[i].length && members(section) === members(expected[i]) && section.every(disjoint),
    )
  )
}

t.test('all golden sections', async (t) => {
  const lines = readFileSync('test/golden/kernel/sections.jsonl', 'utf8').trim().split('\n')
  t.equal(lines.length, 800)
  for (const [index, line] of lines.entries()) {
    const { sections, ...input } = JSON.parse(line)
    const answer = answerSections(input) as { sections: string[][][] }
    if (!sameSections(answer.sections, sections, input.files)) t.same(answer.sections, sections, `line ${index + 1}`)
  }
})

t.test('all golden tasks', async (t) => {
  const lines = readFileSync('test/golden/kernel/tasks.jsonl', 'utf8').trim().split('\n')
  t.equal(lines.length, 800)
  for (const [index, line] of lines.entries()) {
    const { calls, before, ...input } = JSON.parse(line)
    const answer = answerTask(input) as { calls: Record<string, unknown>[]; before: string[] }
    const right =
      answer.calls.length === calls.length &&
      answer.calls.every((call, i) => {
        const { rewrite, ...rest } = call
        const { rewrite: expected, ...expectedRest } = calls[i]
        if (JSON.stringify(rest) !== JSON.stringify(expectedRest)) return false
        return rewrite === undefined
          ? expected === undefined
          : sameSections(rewrite as string[][][], expected, input.files)
      })
    if (!right) t.same(answer.calls, calls, `line ${index + 1}`)
    if ([...answer.before].sort().join() !== [...before].sort().join())
      t.same(answer.before, before, `line ${index + 1}`)
  }
})

function randomFiles(fraction: () => number): readonly DataFile[] {
  const count = Math.floor(fraction() * 14)
  return Array.from({ length: count }, (_, i) => {
    const min = Math.floor(fraction() * 60)
    return file({
      name: `f${i}`,
      min,
      max: min + Math.floor(fraction() * 12),
      bytes: 1 + Math.floor(fraction() * 100),
      level: Math.floor(fraction() * 6),
      deletes: [0, 0, 3, null][Math.floor(fraction() * 4)],
    })
  })
}

t.test('sections do not touch, runs are disjoint, and no packing needs fewer runs', async (t) => {
  const { fraction } = seededRandom(11)
  for (let round = 0; round < 1500; round++) {
    const files = randomFiles(fraction)
    const sections = partitionIntoSections(files, compareBytes)
    const flat = sections.flatMap((s) => s.flatMap((run) => run.files))
    if (flat.length !== files.length || new Set(flat).size !== files.length) t.fail('a file is lost or doubled')
    let end: Uint8Array | undefined
    for (const section of sections) {
      const members = section.flatMap((run) => run.files)
      // The most files over one key bounds the number of runs from below; the bound is reached at some file's min key.
      const depth = Math.max(
        ...members.map(
          (at) =>
            members.filter((f) => compareBytes(f.minKey, at.minKey) <= 0 && compareBytes(at.minKey, f.maxKey) <= 0)
              .length,
        ),
      )
      if (section.length !== depth) t.fail(`${section.length} runs where ${depth} do`)
      for (const run of section) {
        run.files.forEach((f, i) => {
          if (i > 0 && compareBytes(run.files[i - 1].maxKey, f.minKey) >= 0) t.fail('a run overlaps itself')
        })
        if (run.bytes !== run.files.reduce((sum, f) => sum + f.bytes, 0)) t.fail('bytes of a run')
      }
      if (end !== undefined && members.some((f) => compareBytes(f.minKey, end as Uint8Array) <= 0))
        t.fail('sections touch')
      end = members.map((f) => f.maxKey).reduce((a, b) => (compareBytes(a, b) > 0 ? a : b))
    }
  }
  t.pass('1500 rounds')
})

t.test('steps take each file once, and leave alone only what is right where it is', async (t) => {
  const { fraction } = seededRandom(12)
  for (let round = 0; round < 1500; round++) {
    const files = randomFiles(fraction)
    const outputLevel = 1 + Math.floor(fraction() * 5)
    const options = { outputLevel, maxLevel: 5, minFileSize: 40, forceRewriteAllFiles: fraction() < 0.1 }
    const steps = planSteps(files, options, compareBytes)
    const taken = inputsOf(steps)
    if (new Set(taken).size !== taken.length) t.fail('a file is taken twice')
    for (const f of files) {
      if (!taken.includes(f) && (f.level !== outputLevel || options.forceRewriteAllFiles)) t.fail('a file is left out')
    }
    for (const step of steps) {
      if (step.kind === 'rewrite') continue
      const overlapping = files.some(
        (f) =>
          f !== step.file &&
          compareBytes(f.minKey, step.file.maxKey) <= 0 &&
          compareBytes(step.file.minKey, f.maxKey) <= 0,
      )
      if (overlapping) t.fail('an upgraded file overlaps another')
      if (outputLevel === 5 && step.file.deleteRows !== 0) t.fail('deletes moved to the highest level')
    }
    const firstKeys = steps.map((s) => (s.kind === 'upgrade' ? s.file : inputsOf([s])[0]).minKey)
    const ordered = firstKeys.every((k, i) => i === 0 || compareBytes(firstKeys[i - 1], k) < 0)
    if (!ordered && steps.every((s) => inputsOf([s]).length === 1)) t.fail('steps are not in key order')
  }
  t.pass('1500 rounds')
})

t.test('files rewritten one by one stay alone', async (t) => {
  const files = [file({ name: 'a', level: 5 }), file({ name: 'b', level: 5, min: 3 })]
  t.same(rewriteEach(files).map(printStep), ['rewrite {a}', 'rewrite {b}'])
})
