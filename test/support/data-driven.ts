import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'

/** `command key=value word=` above the input; `args` holds the words after the command, `true` for a bare word. */
export interface Case {
  readonly command: string
  readonly args: Readonly<Record<string, string>>
  readonly input: string
  /** For messages: file and line of the command. */
  readonly at: string
}

/**
 * Runs a text file of cases as tests, one each:
 *
 *     # the promise, used as the name of the test
 *     command key=value
 *     input
 *     ----
 *     expected output
 *
 * Cases are separated by a blank line; an output that itself has blank lines is not possible. With `REWRITE=1` in the
 * environment the outputs are written anew, to be reviewed as a diff.
 */
export function dataDriven(path: string, run: (c: Case) => string): void {
  const rewritten: string[] = []
  const rewrite = process.env.REWRITE === '1'
  let line = 1
  let ran = 0
  for (const block of readFileSync(path, 'utf8').split(/\n\n+/)) {
    const start = line
    line += block.split('\n').length + 1
    const lines = block.trim().split('\n')
    const comments = lines.filter((text) => text.startsWith('#'))
    const body = lines.filter((text) => !text.startsWith('#'))
    if (body.length === 0 || body[0] === '') {
      rewritten.push(lines.join('\n'))
      continue
    }
    const divider = body.indexOf('----')
    if (divider < 1) throw new Error(`${path}:${start}: a case needs a line of four dashes`)
    const [command, ...words] = body[0].split(' ')
    const args = Object.fromEntries(words.map((word) => [word.split('=')[0], word.split('=')[1] ?? 'true']))
    const input = body.slice(1, divider).join('\n')
    const expected = body.slice(divider + 1).join('\n')
    const actual = run({ command, args, input, at: `${path}:${start}` })
    rewritten.push([...comments, ...body.slice(0, divider + 1), actual].join('\n'))
    const name = comments.map((text) => text.replace(/^#\s*/, '')).join(' ') || `${body[0]} (line ${start})`
    if (!rewrite) t.equal(actual, expected, name)
    ran++
  }
  if (ran === 0) throw new Error(`${path} holds no case`)
  if (rewrite) writeFileSync(path, `${rewritten.join('\n\n')}\n`)
}
