import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

t.test('the first program of the README runs and prints what the README says', async (t) => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1]
  const output = /It prints\n\n```\n([\s\S]*?)```/.exec(readme)?.[1]
  if (program === undefined || output === undefined) throw new Error('the README has no program or no output')
  const folder = t.testdir()
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/lakelet'))
  await writeFile(join(folder, 'start.mjs'), program)
  const { stdout } = await run(process.execPath, ['start.mjs'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  t.equal(stdout, output)
})
