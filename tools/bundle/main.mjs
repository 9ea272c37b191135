// Joins what tsc leaves as some 270 modules into a few, `dist/bundle`: the package's entry, the threads' entry, and parts that are
// loaded when they are first needed. Loading a module costs about a millisecond, whatever is in it. Dependencies stay
// packages, but for a small one that each program with a table would load.
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const outdir = `${root}dist/bundle`

const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

rmSync(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  // Side by side: `workers/pool.ts` looks for its threads' entry beside the file that it is in.
  entryPoints: { index: 'engine/index.ts', entry: 'workers/entry.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys(dependencies),
  // A third less to compile at the start. Names stay, for stack traces without source maps; lines too, because Node prints the
  // one that an uncaught error comes from.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  logLevel: 'warning',
})
copyFileSync(`${root}node_modules/fzstd/LICENSE`, `${outdir}/LICENSE.fzstd`)
