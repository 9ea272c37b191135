import t from 'tap'
import { advanceView, applyDelta, bucketOf, bucketsOf, loadView, type TableView } from '../../../engine/store/view.ts'
import { goldenCases, goldenExpect } from '../../support/golden.ts'
import { goldenStore } from '../../support/golden-store.ts'

/** One line of `history.json`. */
interface History {
  readonly snapshot: number
  readonly kind: string
  readonly files: readonly {
    readonly bucket: number
    readonly level: number
    readonly rowCount: number
    readonly fileSize: number
    readonly fileName: string
    readonly deleteRowCount: number | null
    readonly fileSource: string
  }[]
}

function filesOf(view: TableView) {
  return [...bucketsOf(view)]
    .flatMap(({ bucket, files }) =>
      files.map((file) => ({
        bucket,
        level: file.level,
        rowCount: file.rows,
        deleteRowCount: file.deleteRows,
        fileSize: file.bytes,
        fileSource: file.source?.toUpperCase(),
        fileName: file.name,
      })),
    )
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
}

function expectedFiles(history: History) {
  return history.files
    .map(({ bucket, level, rowCount, deleteRowCount, fileSize, fileSource, fileName }) => ({
      bucket,
      level,
      rowCount,
      deleteRowCount,
      fileSize,
      fileSource,
      fileName,
    }))
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
}

t.test('golden: the view of every snapshot has the files that Paimon lists', async (t) => {
  for (const name of goldenCases) {
    const { store } = goldenStore(name)
    for (const history of goldenExpect<History>(name, 'history')) {
      const snapshot = await store.snapshots.read(history.snapshot)
      t.equal(snapshot.commitKind, history.kind)
      t.same(filesOf(await loadView(store, snapshot)), expectedFiles(history), `${name} snapshot ${history.snapshot}`)
    }
  }
})

t.test('golden: a view advanced by deltas is the view read whole, and reads no base manifest', async (t) => {
  for (const name of goldenCases) {
    const { store } = goldenStore(name)
    const ids = await store.snapshots.ids()
    if (ids.length < 2) continue
    const first = await loadView(store, await store.snapshots.read(ids[0]!))
    const latest = await store.snapshots.read(ids.at(-1)!)
    const advanced = await advanceView(store, first, latest)
    const whole = await loadView(store, latest)
    t.same(filesOf(advanced), filesOf(whole), name)
    t.same(advanced.indexes, whole.indexes, name)
    t.equal(advanced.snapshot.id, latest.id)
    t.same(filesOf(first), filesOf(await loadView(store, first.snapshot)), 'the first view has not changed')
  }
})

t.test('a view advanced over one commit reads its delta only', async (t) => {
  const { fs, store } = goldenStore('uc_long')
  const ids = await store.snapshots.ids()
  const view = await loadView(store, await store.snapshots.read(ids.at(-2)!))
  const latest = await store.snapshots.read(ids.at(-1)!)
  await fs.unlink(store.manifests.path(latest.baseManifestList))
  t.equal((await advanceView(store, view, latest)).snapshot.id, latest.id)
  await t.rejects(loadView(store, latest), { code: 'CORRUPT' })
})

t.test('going back, or to a snapshot whose id was given out again, reads the snapshot whole', async (t) => {
  const { fs, store } = goldenStore('uc')
  const [one, two, three] = [
    await store.snapshots.read(1),
    await store.snapshots.read(2),
    await store.snapshots.read(3),
  ]
  const last = await loadView(store, three)
  t.same(filesOf(await advanceView(store, last, one)), filesOf(await loadView(store, one)))
  // After a rollback snapshot 2 is another one: what the view was made from is no longer history.
  const second = await loadView(store, two)
  await fs.unlink(store.snapshots.path(2))
  t.same(filesOf(await advanceView(store, second, three)), filesOf(await loadView(store, three)))
})

t.test('a step that another process expires while it is taken is left out: the newest is read whole', async (t) => {
  const { fs, store } = goldenStore('uc')
  const [one, two, three] = [
    await store.snapshots.read(1),
    await store.snapshots.read(2),
    await store.snapshots.read(3),
  ]
  const first = await loadView(store, one)
  // Snapshot 2 is still found, its lists are not: expiry takes them first.
  await fs.unlink(store.manifests.path(two.deltaManifestList))
  t.same(filesOf(await advanceView(store, first, three)), filesOf(await loadView(store, three)))
})

t.test('a delta that does not fit the view is damage, not a guess', async (t) => {
  const { store } = goldenStore('uc')
  const snapshot = await store.snapshots.read(1)
  const view = await loadView(store, snapshot)
  const delta = await store.manifests.deltaEntries(snapshot)
  t.throws(() => applyDelta(view, snapshot, delta, []), { code: 'CORRUPT', message: /there already/ })
  const deletes = delta.map((entry) => ({ ...entry, kind: 'delete' as const }))
  const empty = applyDelta(view, snapshot, deletes, [])
  t.same([...bucketsOf(empty)], [])
  t.equal(empty.partitions.size, 0)
  t.throws(() => applyDelta(empty, snapshot, deletes, []), { code: 'CORRUPT', message: /not there/ })
})

t.test('buckets are found by partition and number', async (t) => {
  const { store } = goldenStore('partitioned')
  const view = await loadView(store, (await store.snapshots.latest())!)
  for (const bucket of bucketsOf(view)) t.equal(bucketOf(view, bucket.partition, bucket.bucket), bucket)
  t.equal(bucketOf(view, new Uint8Array(12), 0), undefined)
})

t.test('a missing manifest is damage while its snapshot is there, and EXPIRED when that is gone', async (t) => {
  const { fs, store } = goldenStore('uc')
  const snapshot = await store.snapshots.read(1)
  await fs.unlink(store.manifests.path(snapshot.deltaManifestList))
  await t.rejects(loadView(store, snapshot), { code: 'CORRUPT', details: { missing: true } })
  await store.snapshots.writeEarliestHint(2)
  await t.rejects(loadView(store, snapshot), { code: 'EXPIRED', details: { value: 1, earliest: 2 } })
})
