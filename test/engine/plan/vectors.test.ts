import t from 'tap'
import { replaceVectors, vectorFiles, withVectors } from '../../../engine/plan/vectors.ts'
import type { IndexEntry } from '../../../formats/meta/types.ts'
import { file, noPartition, partition } from '../../support/plan-files.ts'

const vectors = (name: string, ...dataFiles: readonly string[]) => ({
  name,
  bytes: 1 + dataFiles.length * 38,
  ranges: dataFiles.map((dataFile, index) => ({ dataFile, offset: 1 + index * 38, length: 30, cardinality: 5 })),
})

t.test('files have the places of their vectors; what does not change stays the same object', async (t) => {
  const [a, b] = [file({ name: 'a', level: 5 }), file({ name: 'b', level: 5 })]
  const files = [a, b]
  t.equal(withVectors(files, undefined), files)
  t.equal(withVectors(files, vectors('index-0')), files)
  const marked = withVectors(files, vectors('index-1', 'b', 'gone'))
  t.equal(marked[0], a)
  t.strictSame(marked[1]!.vector, { indexFile: 'index-1', offset: 1, length: 30, cardinality: 5 })
  t.equal(withVectors(marked, vectors('index-1', 'b', 'gone'))[1], marked[1])
  const both = withVectors(marked, vectors('index-2', 'a', 'b'))
  t.strictSame(
    both.map(({ vector }) => [vector?.indexFile, vector?.offset]),
    [
      ['index-2', 1],
      ['index-2', 39],
    ],
  )
  t.strictSame(withVectors(both, undefined), [a, b], 'no vectors any more')
})

t.test('vectors of a bucket take the place of those it had, and nothing else', async (t) => {
  const entry = (
    name: string,
    bucket: number,
    indexType = 'DELETION_VECTORS',
    of: Uint8Array = noPartition,
  ): IndexEntry => ({
    kind: 'add',
    partition: of,
    bucket,
    indexType,
    name,
    bytes: 1,
    rows: 0,
    deletionVectors: indexType === 'HASH' ? null : [],
    externalPath: null,
    globalIndex: null,
  })
  const before = [
    entry('old', 0),
    entry('other', 1),
    entry('hash', 0, 'HASH'),
    entry('elsewhere', 0, undefined, partition(1)),
  ]
  const next = replaceVectors(before, [{ partition: noPartition, bucket: 0, vectors: vectors('new', 'a', 'b') }])
  t.strictSame(
    next.map(({ name, bucket, rows }) => [name, bucket, rows]),
    [
      ['other', 1, 0],
      ['hash', 0, 0],
      ['elsewhere', 0, 0],
      ['new', 0, 2],
    ],
  )
  t.strictSame([...vectorFiles(next).values()].map(({ name }) => name).sort(), ['elsewhere', 'new', 'other'])
})
