import t from 'tap'
import { code, places, read, sourcesIn, trackedFiles } from './sources.ts'

const library = ['formats', 'engine'].flatMap(sourcesIn)
const sources = [...library, ...['workers', 'tools'].flatMap(sourcesIn)]

/** What only ports may touch, so that a test can put its own clock, chance and disk under the engine. */
const banned: readonly RegExp[] = [
  /['"]node:fs(\/promises)?['"]/,
  /\bDate\.now\(/,
  /\bnew Date\(\s*\)/,
  /\bperformance\.now\(/,
  /\bMath\.random\(/,
  /\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/,
  /\bset(Timeout|Interval|Immediate)\(/,
  /\bprocess\.(env|hrtime|cwd)\b/,
]

t.test('clock, chance and disk are reached through ports only', async (t) => {
  // A codec in WebAssembly reads its own code from the package beside it, as `require` does.
  const exempt = ['formats/compress/zstd-wasm.ts']
  const inside = library.filter((path) => !path.startsWith('engine/ports/') && !exempt.includes(path))
  for (const pattern of banned) {
    t.strictSame(
      inside.flatMap((path) => places(path, code(path), pattern)),
      [],
      String(pattern),
    )
  }
})

t.test('the library prints nothing', async (t) => {
  const found = [...library, ...sourcesIn('workers')].flatMap((path) => places(path, code(path), /\bconsole\.\w+\(/))
  t.strictSame(found, [])
})

t.test('file names are kebab-case and say what is inside', async (t) => {
  const names = [...sources, ...sourcesIn('test')].map((path) => path.split('/').at(-1)!)
  t.strictSame(
    names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(name)),
    [],
  )
  t.strictSame(
    names.filter((name) => /^(utils?|helpers?|common|misc|types)\.ts$/.test(name)),
    ['types.ts', 'types.ts'],
    'only the records of meta and of plan are called types',
  )
})

/** Long files that are one idea all the same: path and reason. */
const longFiles: Readonly<Record<string, string>> = {
  'formats/parquet/footer.ts': 'the structs of one Thrift file, in its order',
  'formats/parquet/thrift.ts': 'one protocol, read and written by the same tables of fields',
}

t.test('no source file is over 400 lines without a reason', async (t) => {
  const long = sources.filter((path) => read(path).split('\n').length > 401)
  t.strictSame(
    long.filter((path) => !Object.hasOwn(longFiles, path)),
    [],
  )
  t.strictSame(
    Object.keys(longFiles).filter((path) => !long.includes(path)),
    [],
    'reasons of files that are gone or shorter now',
  )
})

t.test('no test is skipped, focused or left to do', async (t) => {
  const tests = sourcesIn('test').filter((path) => path.endsWith('.test.ts'))
  const found = tests.flatMap((path) =>
    places(path, code(path), /\b(skip|only|todo): *(true|['"`])|\bt\.(only|skip|todo)\(/),
  )
  t.strictSame(found, [])
})

t.test('nothing is left to do in the code, no check is switched off without saying why', async (t) => {
  const left = new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].map((word) => `\\b${word}\\b`).join('|'))
  const off = /@ts-(ignore|nocheck|expect-error)(?! \S)|biome-ignore [^:]*$/
  const any = /\bas any\b|: any\b|<any>/
  for (const [pattern, text] of [
    [left, read],
    [off, read],
    [any, code],
  ] as const) {
    t.strictSame(
      sources.flatMap((path) => places(path, text(path), pattern)),
      [],
      String(pattern),
    )
  }
})

/** Files whose content is not ours to word. */
const foreign = /^(test\/golden\/|package-lock\.json$|LICENSE$|tools\/bench\/package-lock\.json$)/
const binary = /\.(png|parquet|avro|orc|bin|index)$/

t.test('no tracked file names a folder of one machine or the host of a package registry', async (t) => {
  const folders = new RegExp(`(^|["'\`( =])/(${['home', 'root', 'work', 'tmp', 'usr', 'var'].join('|')})/[a-z]`)
  const hosts = new RegExp(`https?://[^/\\s"']*(${['registry', 'artifactory', 'nexus', 'mirror'].join('|')})`)
  const files = trackedFiles().filter((path) => !foreign.test(path) && !binary.test(path))
  t.ok(files.length > 50)
  for (const pattern of [folders, hosts]) {
    t.strictSame(
      files.flatMap((path) => places(path, read(path), pattern)),
      [],
      String(pattern),
    )
  }
})

t.test('lock files hold no download addresses', async (t) => {
  const locks = trackedFiles().filter((path) => path.endsWith('package-lock.json'))
  t.ok(locks.includes('package-lock.json'))
  for (const path of locks) t.notMatch(read(path), /"resolved": *"http/, path)
})
