import t from 'tap'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { describeManifest } from '../../../engine/store/manifest-stats.ts'
import { ManifestWriter } from '../../../engine/store/manifest-writer.ts'
import { manifestWriter } from '../../../engine/store/table-store.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { decodeManifest } from '../../../formats/meta/manifest.ts'
import { goldenCases } from '../../support/golden.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'
import { seededRandom } from '../../support/seeded-random.ts'

t.test('golden: counts and bounds of every manifest are those that Paimon wrote', async (t) => {
  let compared = 0
  for (const name of goldenCases) {
    const { store } = goldenStore(name)
    const schema = await store.schemas.latest()
    const types = schema.partitionKeys.map((key) => schema.fields.find((field) => field.name === key)!.type)
    for (const id of await store.snapshots.ids()) {
      const { base, delta, changelog } = await store.manifests.listsOf(await store.snapshots.read(id))
      for (const manifest of [...base, ...delta, ...(changelog ?? [])]) {
        const entries = await store.manifests.read(manifest)
        t.same(describeManifest(manifest.name, manifest.bytes, entries, types), manifest, `${name} ${manifest.name}`)
        compared++
      }
    }
  }
  t.ok(compared > 500, `${compared} manifests`)
})

t.test('sizes written are exact, names unique, and what is read back is what was written', async (t) => {
  const { fs, store } = goldenStore('partitioned')
  const schema = await store.schemas.latest()
  const entries = await store.manifests.liveEntries((await store.snapshots.latest())!)
  const writer = manifestWriter(store, schema)
  const manifests = await writer.writeManifests(entries)
  const list = await writer.writeList(manifests)
  const empty = await writer.writeList([])
  await writer.sync()
  t.equal(manifests.length, 1)
  t.equal((await fs.stat(store.manifests.path(manifests[0]!.name)))?.bytes, manifests[0]!.bytes)
  t.equal((await fs.stat(store.manifests.path(list.name)))?.bytes, list.bytes)
  t.not(list.name, empty.name)
  const again = storeOver(fs, store.paths.table)
  t.same(await again.manifests.readList(list.name, list.bytes), manifests)
  t.same(await again.manifests.readAll(manifests), entries)
  t.same(await again.manifests.readList(empty.name, empty.bytes), [])
})

t.test('manifests roll at the target size, in order', async (t) => {
  const { store } = goldenStore('uc_long')
  const entries = (await Promise.all((await store.snapshots.ids()).map((id) => store.snapshots.read(id)))).map(
    (snapshot) => store.manifests.deltaEntries(snapshot),
  )
  const all = (await Promise.all(entries)).flat()
  const fs = createMemoryFileSystem()
  const codecs = loadCodecs()
  const writer = new ManifestWriter({
    fs,
    random: seededRandom(3),
    codecs,
    folder: '/m',
    partitionTypes: [],
    compression: 'zstd',
    targetBytes: 3000,
  })
  const manifests = await writer.writeManifests(all)
  t.ok(manifests.length > 1, `${manifests.length} manifests`)
  const read = []
  for (const { name } of manifests) read.push(...decodeManifest(await fs.readFile(`/m/${name}`), codecs, name))
  t.same(read, all)
  t.same(await writer.writeManifests([]), [])
  await writer.abort()
  t.same(await fs.list('/m'), [], 'an aborted attempt leaves nothing')
})

t.test('C115: a manifest or list cut anywhere is an error that names it, also at the end of a block', async (t) => {
  const { fs, store } = goldenStore('uc')
  const snapshot = (await store.snapshots.latest())!
  const { delta } = await store.manifests.listsOf(snapshot)
  for (const name of [snapshot.deltaManifestList, snapshot.baseManifestList, delta[0]!.name]) {
    const path = store.manifests.path(name)
    const whole = await fs.readFile(path)
    for (let length = 0; length < whole.length; length += 37) {
      fs.plant(path, whole.subarray(0, length))
      await t.rejects(storeOver(fs, store.paths.table).manifests.liveEntries(snapshot), {
        code: 'CORRUPT',
        details: { path },
      })
    }
    fs.plant(path, whole)
  }
  t.ok((await storeOver(fs, store.paths.table).manifests.liveEntries(snapshot)).length > 0)
})

t.test('a list without the entries that its count announces is damage', async (t) => {
  const { store } = goldenStore('uc')
  const { delta } = await store.manifests.listsOf((await store.snapshots.latest())!)
  const lying = { ...delta[0]!, addedFiles: delta[0]!.addedFiles + 1 }
  await t.rejects(store.manifests.read(lying), { code: 'CORRUPT', details: { path: store.manifests.path(lying.name) } })
})

t.test('a manifest name that leads out of the folder is refused', async (t) => {
  const { store } = goldenStore('uc')
  for (const name of ['../snapshot/snapshot-1', '..', '', 'a\0b']) {
    await t.rejects(store.manifests.readList(name), { code: 'CORRUPT' })
  }
})
