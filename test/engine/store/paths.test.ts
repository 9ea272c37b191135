import t from 'tap'
import { dataPaths, inside, tablePaths } from '../../../engine/store/paths.ts'
import { dataPathsOf } from '../../../engine/store/table-store.ts'
import { bucketsOf, loadView } from '../../../engine/store/view.ts'
import { goldenCases } from '../../support/golden.ts'
import { goldenStore } from '../../support/golden-store.ts'

t.test('branches have folders of their own for what names files, and share the files', (t) => {
  const main = tablePaths('/w/db.db/t')
  const dev = tablePaths('/w/db.db/t', 'dev')
  t.equal(main.snapshots, '/w/db.db/t/snapshot')
  t.equal(dev.snapshots, '/w/db.db/t/branch/branch-dev/snapshot')
  t.equal(dev.tags, '/w/db.db/t/branch/branch-dev/tag')
  t.equal(dev.manifests, main.manifests)
  t.equal(dev.indexes, '/w/db.db/t/index')
  t.end()
})

t.test('golden: every live file is where its partition and bucket say', async (t) => {
  for (const name of goldenCases) {
    const { fs, store } = goldenStore(name)
    const paths = dataPathsOf(store.paths, await store.schemas.latest())
    const view = await loadView(store, (await store.snapshots.latest())!)
    for (const { partition, bucket, files } of bucketsOf(view)) {
      for (const file of files) {
        const [path, ...extra] = paths.filesOf(partition, bucket, file)
        t.equal((await fs.stat(path!))?.bytes, file.bytes, path)
        for (const path of extra) t.ok((await fs.stat(path)) !== undefined, path)
      }
    }
    for (const entry of view.indexes) t.equal((await fs.stat(paths.indexFile(entry)))?.bytes, entry.bytes)
  }
})

t.test('the bucket of rows that wait, and index files beside the data', (t) => {
  const paths = dataPaths(tablePaths('/t'), () => 'p=1', {
    options: { 'index-file-in-data-file-dir': 'true' },
  })
  const partition = new Uint8Array(12)
  t.equal(paths.bucketFolder(partition, -2), '/t/p=1/bucket-postpone')
  const index = { partition, bucket: 3, name: 'index-1', externalPath: null }
  t.equal(paths.indexFile(index as Parameters<typeof paths.indexFile>[0]), '/t/p=1/bucket-3/index-1')
  t.end()
})

t.test('a name out of a manifest cannot lead elsewhere', (t) => {
  for (const name of ['', '.', '..', '../x', 'a/b', 'a\\b', 'a\0'])
    t.throws(() => inside(name, null), { code: 'CORRUPT' })
  t.throws(() => inside('data-1', 's3://bucket/data-1'), { code: 'UNSUPPORTED' })
  t.equal(inside('data-1.parquet', null), 'data-1.parquet')
  t.end()
})
