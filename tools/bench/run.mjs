#!/usr/bin/env node
// Installs the other stores into this folder where they are missing, then runs bench.mjs with the same arguments.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const shell = process.platform === 'win32'

if (!Object.keys(dependencies).every((name) => existsSync(`${here}node_modules/${name}`))) {
  process.stderr.write('installing the other stores (once; better-sqlite3 may be compiled, which takes minutes)\n')
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: here, stdio: ['ignore', 2, 2], shell })
  if (status !== 0) process.stderr.write('some stores could not be installed: they are left out\n')
}
if (!existsSync(`${here}../../dist/bundle/index.js`)) {
  spawnSync('npm', ['run', '-s', 'build'], { cwd: `${here}../..`, stdio: 'inherit', shell })
}
const { status } = spawnSync(process.execPath, [`${here}bench.mjs`, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
