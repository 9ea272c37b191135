import type { Test } from 'tap'
import { t as f, type Table } from '../../engine/index.ts'
import { changesOf } from '../support/changes.ts'
import type { Engines } from './support/engines.ts'
import { Mirror } from './support/mirror.ts'
import { inJava, javaWrites, type Part, part } from './support/part.ts'

/** Both engines write and compact a table in turns; each tells the same changes of all of it, whoever made them. */
export async function checkChangelogs(t: Test, engines: Engines): Promise<void> {
  for (const producer of ['none', 'input', 'lookup', 'full-compaction']) {
    await part(t, engines, `changes told by both: ${producer}`, (each) => inTurns(each, producer))
  }
}

async function inTurns(part: Part, producer: string): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, `told.${producer.replace('-', '_')}`, {
    fields: { k: f.int(), v: f.string().nullable() },
    primaryKey: ['k'],
    options: { 'changelog-producer': producer, 'snapshot.num-retained.min': 100, 'snapshot.num-retained.max': 100 },
  })
  const java = inJava(part, mirror)
  for (let version = 1; version <= 8; version++) {
    const put = Array.from({ length: 6 }, (_, i) => ({ k: (version * 5 + i * 3) % 20, v: `${version} ${i % 2}` }))
    const gone = [{ k: (version * 7) % 20, v: null }]
    if (version % 2 === 0) await mirror.commit(put, gone)
    else await javaWrites(part, mirror, put, gone)
    await mirror.table.refresh()
    if (version === 3) await java.compact({ full: true })
    await mirror.table.refresh()
    if (version === 6) await mirror.table.compact({ full: true })
  }
  await mirror.table.refresh()
  await mirror.table.compact({ full: true })
  const ours = (await changesOf(mirror.table as unknown as Table)).map(({ snapshot, kind, row }) => ({
    snapshot,
    kind,
    row,
  }))
  t.ok(ours.length > 20, `${ours.length} changes`)
  t.strictSame(await java.changelog(), ours)
}
