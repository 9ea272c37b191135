import { posix } from 'node:path'
import t from 'tap'
import { code, sourcesIn } from './sources.ts'

/**
 * What each layer may import beside itself; a type import counts. A layer is a folder of `formats` or `engine`, one of the files
 * that join them, or a folder of `tools`. `formats` stands for all of it, `engine` likewise.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  'formats/bytes': [],
  'formats/types': ['formats/bytes'],
  'formats/column': ['formats/bytes', 'formats/types'],
  'formats/compress': ['formats/bytes', 'formats/types'],
  'formats/parquet': ['formats/column', 'formats/compress', 'formats/bytes', 'formats/types'],
  'formats/avro': ['formats/column', 'formats/compress', 'formats/bytes', 'formats/types'],
  'formats/row': ['formats/column', 'formats/compress', 'formats/bytes', 'formats/types'],
  'formats/index': ['formats/column', 'formats/compress', 'formats/bytes', 'formats/types'],
  'formats/spill': ['formats/column', 'formats/compress', 'formats/bytes', 'formats/types'],
  'formats/meta': ['formats/avro', 'formats/row', 'formats/compress', 'formats/bytes', 'formats/types'],
  'engine/errors.ts': [],
  'engine/assert.ts': ['engine/errors.ts'],
  'engine/options': ['engine/errors.ts', 'formats/bytes', 'formats/types', 'formats/column'],
  'engine/ports': ['engine/errors.ts', 'formats/bytes'],
  'engine/plan': ['engine/base', 'formats'],
  'engine/merge': ['engine/base', 'formats'],
  'engine/store': ['engine/base', 'engine/plan', 'engine/ports', 'formats'],
  'engine/tasks': ['engine/base', 'engine/store', 'engine/merge', 'engine/plan', 'engine/ports', 'formats'],
  'engine/write': ['engine/base', 'engine/below', 'formats'],
  'engine/compact': ['engine/base', 'engine/below', 'formats'],
  'engine/commit': ['engine/base', 'engine/below', 'formats'],
  'engine/read': ['engine/base', 'engine/below', 'formats'],
  'engine/upkeep': ['engine/base', 'engine/below', 'formats'],
  'engine/api': ['engine/base', 'engine/plan', 'engine/tasks', 'formats'],
  'engine/table': ['engine', 'formats'],
  'engine/warehouse.ts': ['engine', 'formats'],
  'engine/index.ts': ['engine', 'formats'],
  'engine/open.ts': ['engine', 'formats', 'workers'],
  workers: ['engine/tasks', 'engine/ports', 'engine/base', 'formats'],
  'tools/cli': ['engine/index.ts'],
  'tools/demo': ['engine/index.ts', 'formats'],
  'tools/fsck': ['engine/index.ts', 'formats'],
  'tools/inspect': ['engine/index.ts', 'formats'],
  'tools/kernel': ['engine/index.ts', 'engine/plan', 'formats'],
  'tools/docs': ['engine/errors.ts', 'engine/options'],
  'tools/bench': ['engine/index.ts', 'formats'],
}

/** Groups of layers, named in `layers` for short. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'engine/base': ['engine/errors.ts', 'engine/assert.ts', 'engine/options'],
  'engine/below': ['engine/tasks', 'engine/store', 'engine/merge', 'engine/plan', 'engine/ports'],
}

/** Where a package may be imported, and how: the heavy ones are loaded on first use. */
const packages: Readonly<Record<string, RegExp>> = {
  'apache-arrow': /^formats\/column\/arrow|^engine\/(api|table|index|read)/,
  avsc: /^formats\/avro\//,
  piscina: /^workers\//,
  '@foxglove/wasm-zstd': /^formats\/compress\//,
  fzstd: /^formats\/compress\//,
  hyparquet: /^tools\/demo\//,
  'hyparquet-compressors': /^tools\/demo\//,
}

const importPattern =
  /^\s*(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

function importsOf(path: string): readonly string[] {
  return [...code(path).matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3]!)
}

function layerOf(path: string): string {
  return path.startsWith('workers/') ? 'workers' : path.split('/').slice(0, 2).join('/')
}

function mayImport(from: string, to: string): boolean {
  return (layers[from] ?? []).some((name) =>
    (groups[name] ?? [name]).some((allowed) => to === allowed || to.startsWith(`${allowed}/`)),
  )
}

const sources = ['formats', 'engine', 'workers', 'tools'].flatMap(sourcesIn)

t.test('imports go down only', async (t) => {
  t.ok(sources.length > 50, 'the sources are found')
  const breaches = sources.flatMap((path) => {
    const from = layerOf(path)
    if (!Object.hasOwn(layers, from)) return [`${path}: ${from} is no layer: add it to this table`]
    return importsOf(path)
      .filter((name) => name.startsWith('.'))
      .map((name) => posix.join(posix.dirname(path), name))
      .filter((target) => layerOf(target) !== from && !mayImport(from, layerOf(target)))
      .map((target) => `${path} imports ${target}`)
  })
  t.strictSame(breaches, [])
})

t.test('packages stay where they belong', async (t) => {
  const breaches = sources.flatMap((path) =>
    importsOf(path)
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .filter(
        (name) =>
          !packages[
            name
              .split('/')
              .slice(0, name.startsWith('@') ? 2 : 1)
              .join('/')
          ]?.test(path),
      )
      .map((name) => `${path} imports ${name}`),
  )
  t.strictSame(breaches, [])
})

t.test('relative imports name TypeScript files', async (t) => {
  const breaches = sources.flatMap((path) =>
    importsOf(path)
      .filter((name) => name.startsWith('.') && !name.endsWith('.ts'))
      .map((name) => `${path} imports ${name}`),
  )
  t.strictSame(breaches, [])
})
