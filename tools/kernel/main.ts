import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { array, object, text } from './json.ts'
import { answerPick } from './picks.ts'
import { answerRows } from './rows.ts'
import { answerSections } from './sections.ts'
import { answerTask } from './tasks.ts'

const answers: Readonly<Record<string, (line: unknown) => unknown>> = {
  picks: answerPick,
  sections: answerSections,
  tasks: answerTask,
  rows: (line) => {
    const input = object(line, 'line')
    const types = array(input.types, 'types').map((type) => text(type, 'types'))
    return { ...input, ...answerRows({ types, values: array(input.values, 'values') }) }
  },
}

const usage = `usage: npm run -s kernel -- picks|sections|tasks|rows < cases.jsonl

Reads one JSON object a line, adds the answer of the planner to it, and prints it on a line of its own, in order.
Exit code 2: wrong usage, or a line that is not a case; the message names the line.
`

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  const answer = args.length === 1 && Object.hasOwn(answers, args[0]) ? answers[args[0]] : undefined
  if (answer === undefined) {
    process.stderr.write(usage)
    return 2
  }
  let number = 0
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    if (line.trim() === '') continue
    let output: string
    try {
      output = JSON.stringify(answer(JSON.parse(line)))
    } catch (error) {
      process.stderr.write(`line ${number}: ${error instanceof Error ? error.message : String(error)}\n`)
      return 2
    }
    if (!process.stdout.write(`${output}\n`)) await once(process.stdout, 'drain')
  }
  return 0
}
