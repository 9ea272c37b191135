import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** What a program that imports the package prints, in an empty folder. */
async function printed(folder: string, program: string): Promise<string> {
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/lakelet'))
  await writeFile(join(folder, 'start.mjs'), program)
  const env = { ...process.env, NODE_OPTIONS: '' }
  return (await run(process.execPath, ['start.mjs'], { cwd: folder, env })).stdout
}

for (const name of ['api', 'merge-engines']) {
  t.test(`the JavaScript of docs/${name}.md is one program, and prints what its comments say`, async (t) => {
    const page = await readFile(join(root, `docs/${name}.md`), 'utf8')
    const program = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map((block) => block[1]).join('\n')
    const output = await printed(t.testdir(), program)
    for (const [, said] of program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)) {
      const text = said!.replace(/: .*$/, '')
      t.ok(output.includes(text) || output.includes(said!), text)
    }
  })
}

t.test('the first program of the README runs and prints what the README says', async (t) => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1]
  const output = /It prints\n\n```\n([\s\S]*?)```/.exec(readme)?.[1]
  if (program === undefined || output === undefined) throw new Error('the README has no program or no output')
  t.equal(await printed(t.testdir(), program), output)
})
