import t from 'tap'
import { decodeHashIndex, encodeHashIndex } from '../../../formats/index/hash-index.ts'
import { expected, filesOf } from '../meta/golden.ts'

t.test('the hashes of Paimon’s dynamic buckets read and write back', (t) => {
  const wanted = new Map(
    (expected('dynamic_bucket', 'index') as { fileName: string; hashes: number[] }[]).map((entry) => [
      entry.fileName,
      entry.hashes,
    ]),
  )
  let found = 0
  for (const [name, bytes] of filesOf('dynamic_bucket', 'index', 'index-')) {
    const hashes = decodeHashIndex(bytes)
    t.strictSame(encodeHashIndex(hashes), bytes)
    if (!wanted.has(name)) continue
    t.strictSame([...hashes].sort(), [...wanted.get(name)!].sort())
    found++
  }
  t.equal(found, wanted.size)
  t.ok(found > 0)
  t.end()
})

t.test('any array is read at its offset, and half a hash is corrupt', (t) => {
  const bytes = Uint8Array.of(9, 0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
  t.strictSame([...decodeHashIndex(bytes.subarray(1))], [-2147483648, -1])
  t.equal(decodeHashIndex(new Uint8Array()).length, 0)
  t.throws(() => decodeHashIndex(bytes), { code: 'CORRUPT', message: /9 bytes are no whole number/ })
  t.end()
})
