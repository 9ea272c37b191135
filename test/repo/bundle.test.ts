import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as zlib from 'node:zlib'
import t from 'tap'
import { root } from './sources.ts'

const bundle = pathToFileURL(`${root}dist/bundle/`).href

/** What a program loads beyond one that does nothing: `lakelet` for a module of the bundle, the package's name for another. */
function loadedBy(folder: string, program: string): readonly string[] {
  const always = new Set(urlsLoadedBy(folder, ''))
  return urlsLoadedBy(folder, program)
    .filter((url) => !always.has(url))
    .map((url) => (url.startsWith(bundle) ? 'lakelet' : (/.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url)))
}

/** The modules of a process, as V8 counted them. */
function urlsLoadedBy(folder: string, program: string): readonly string[] {
  const coverage = mkdtempSync(`${folder}/coverage-`)
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: coverage },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return readdirSync(coverage)
    .flatMap((name) => JSON.parse(readFileSync(`${coverage}/${name}`, 'utf8')).result as { url: string }[])
    .map(({ url }) => url)
    .filter((url) => url.startsWith('file:') && !url.includes('[eval'))
}

t.test('importing the package loads no dependency and few modules', async (t) => {
  const loaded = loadedBy(t.testdir(), `await import('${bundle}index.js')`)
  t.strictSame(new Set(loaded), new Set(['lakelet']))
  t.ok(loaded.length <= 6, `${loaded.length} modules, each about a millisecond`)
})

t.test('opening a table, reading and writing load a dependency when they need it', async (t) => {
  const folder = t.testdir()
  const packages = (step: string) =>
    new Set(
      loadedBy(
        folder,
        `const { openWarehouse, t } = await import('${bundle}index.js')
        const warehouse = await openWarehouse('w', { workers: 0, durability: 'none' })
        const definition = { fields: { id: t.int() }, primaryKey: ['id'] }
        const table = await warehouse.createTable('db.t', definition, { ifNotExists: true })
        ${step}
        await warehouse.close()`,
      ),
    )
  const [zstd, arrow] = ['@foxglove/wasm-zstd', 'apache-arrow']
  const wasm = 'zstdCompressSync' in zlib ? [] : [zstd]
  t.strictSame(packages(''), new Set(['lakelet']), 'an empty table')
  t.strictSame(packages('await table.put([{ id: 1 }]); await table.commit()'), new Set(['lakelet', ...wasm]))
  t.strictSame(packages(''), new Set(['lakelet']), 'small manifests are decompressed without')
  t.ok(packages('for await (const batch of table.scanArrow()) batch.numRows').has(arrow))
})
