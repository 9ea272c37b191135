import { existsSync } from 'node:fs'
import t from 'tap'
import { read, root, trackedFiles } from './sources.ts'

const manifest = JSON.parse(read('package.json'))

t.test('exports lead to the bundle and the types of its source, types first', async (t) => {
  t.strictSame(Object.keys(manifest.exports), ['.', './package.json'])
  t.strictSame(Object.keys(manifest.exports['.']), ['types', 'default'])
  const { types, default: module } = manifest.exports['.']
  t.ok(existsSync(root + types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')), types)
  t.ok(existsSync(root + module), module)
})

t.test('the package is ESM for Node 20 and up, free of side effects, Apache-2.0', async (t) => {
  t.match(manifest, { type: 'module', engines: { node: '>=20' }, sideEffects: false, license: 'Apache-2.0' })
  t.match(read('LICENSE'), /Apache License\s+Version 2\.0/)
})

t.test('all versions are exact', async (t) => {
  for (const group of ['dependencies', 'devDependencies']) {
    for (const [name, version] of Object.entries(manifest[group])) t.match(version, /^\d+\.\d+\.\d+$/, name)
  }
})

t.test('what is packed is there', async (t) => {
  const tracked = trackedFiles()
  for (const entry of manifest.files.filter((entry: string) => !entry.startsWith('dist/'))) {
    t.ok(
      tracked.some((path) => path === entry || path.startsWith(`${entry}/`)),
      entry,
    )
  }
})

t.test('no install script but the build of a checkout', async (t) => {
  t.strictSame(
    Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare|publish|pack)/.test(name)),
    ['prepare'],
  )
})

t.test('scripts that documents name exist', async (t) => {
  const documents = trackedFiles().filter((path) => /^[^/]+\.md$|^docs\/.*\.md$|^\.ci\/run$/.test(path))
  for (const path of documents) {
    for (const [, name] of read(path).matchAll(/\bnpm run (?:-s |--silent )*([a-z][\w:-]*)/g)) {
      t.ok(Object.hasOwn(manifest.scripts, name!), `${path}: npm run ${name}`)
    }
  }
})
