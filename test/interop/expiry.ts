import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { t as f } from '../../engine/index.ts'
import type { Engines } from './support/engines.ts'
import { type Definition, Mirror } from './support/mirror.ts'
import { check, inJava, type Part, part, sameRows } from './support/part.ts'

/** After our expiry Java and pypaimon still read what must be there, and no file too many is left. */
export async function checkExpiry(t: Test, engines: Engines): Promise<void> {
  await part(t, engines, 'C082 expiry keeps files that an upgrade removed and added under one name', upgraded)
  await part(t, engines, 'C083 expiry keeps the files of a tag that Java made', tagged)
  await part(t, engines, 'C085 tags that Java deletes take no file that is in use', tagDeleted)
  await part(t, engines, 'C095 orphan clean-up keeps what tags and branches of Java name', orphans)
  await part(t, engines, 'C090 retention limits, and a consumer', limits)
}

const definition: Definition = {
  fields: { k: f.int(), v: f.int() },
  primaryKey: ['k'],
  options: { bucket: 1, 'write-only': true },
}

const OLD_ENOUGH = { olderThan: Date.now() + 86_400_000 }

function dataFiles(mirror: Mirror): readonly string[] {
  return readdirSync(join(mirror.folder, 'bucket-0')).filter((name) => name.startsWith('data-'))
}

async function upgraded(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'expiry.upgraded', {
    ...definition,
    options: { ...definition.options, 'target-file-size': '1 kb' },
  })
  await mirror.commit(Array.from({ length: 2000 }, (_, k) => ({ k, v: k })))
  const before = dataFiles(mirror)
  await mirror.table.compact({ full: true })
  t.strictSame(
    mirror.table
      .levels()[0]!
      .levels.filter(({ files }) => files > 0)
      .map(({ level, files }) => [level, files]),
    [[5, before.length]],
  )
  const { expired } = await mirror.table.expireSnapshots({ retainMax: 1, retainMin: 1, ...OLD_ENOUGH })
  t.strictSame(expired, [1])
  t.strictSame(dataFiles(mirror), before, 'all files under their old names')
  await check(part, mirror, 'after expiry')
  t.strictSame(await inJava(part, mirror).orphans(), [])
}

async function tagged(part: Part): Promise<void> {
  const { t, python } = part
  const mirror = await Mirror.create(part.warehouse, 'expiry.tagged', definition)
  const java = inJava(part, mirror)
  await mirror.commit([
    { k: 1, v: 1 },
    { k: 2, v: 2 },
  ])
  await mirror.table.compact({ full: true })
  await java.tag('one')
  const atTag = mirror.expected()
  await mirror.commit([{ k: 1, v: 100 }])
  await mirror.table.compact({ full: true })
  await mirror.table.expireSnapshots({ retainMax: 1, retainMin: 1, ...OLD_ENOUGH })
  sameRows(t, await java.read({ tag: 'one' }), atTag, 'the tag by Java')
  if (python !== undefined) {
    const rows = await python.readTable(mirror.warehouse, mirror.name, { 'scan.tag-name': 'one' })
    sameRows(t, rows, atTag, 'the tag by pypaimon')
  }
  await check(part, mirror, 'the newest snapshot')
  t.strictSame(await java.orphans(), [])
  await java.deleteTag('one')
  await check(part, mirror, 'the newest snapshot without the tag')
  t.equal(dataFiles(mirror).length, 1)
}

async function tagDeleted(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'expiry.tag_deleted', definition)
  const java = inJava(part, mirror)
  await mirror.commit([{ k: 1, v: 1 }])
  await mirror.table.compact({ full: true })
  const early = mirror.expected()
  await mirror.commit([{ k: 2, v: 2 }])
  await java.tag('x')
  await java.tag('y', 1)
  await java.deleteTag('x')
  await check(part, mirror, 'x deleted')
  await mirror.table.expireSnapshots({ retainMax: 1, retainMin: 1, ...OLD_ENOUGH })
  await check(part, mirror, 'expired')
  sameRows(t, await java.read({ tag: 'y' }), early, 'y by Java')
  await java.deleteTag('y')
  await check(part, mirror, 'y deleted')
  t.strictSame(await java.orphans(), [])
}

async function orphans(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'expiry.orphans', definition)
  const java = inJava(part, mirror)
  await mirror.commit([{ k: 1, v: 1 }])
  const atTag = mirror.expected()
  await java.tag('one')
  await java.branch('dev', 'one')
  const branch = part.java.table(mirror.warehouse, `${mirror.name}$branch_dev`)
  await branch.write([{ row: { k: 7, v: 7 } }])
  const onBranch = await branch.read()
  t.equal(onBranch.length, 2, 'a row of its own')
  await mirror.commit([{ k: 1, v: 100 }])
  await mirror.table.compact({ full: true })
  await mirror.table.expireSnapshots({ retainMax: 1, retainMin: 1, ...OLD_ENOUGH })
  const strays = ['bucket-0/data-stray-0.parquet', 'manifest/manifest-stray', 'index/index-stray', 'snapshot/.x.tmp']
  mkdirSync(join(mirror.folder, 'index'), { recursive: true })
  for (const stray of strays) writeFileSync(join(mirror.folder, stray), 'stray')
  const ours = await mirror.table.removeOrphans({ ...OLD_ENOUGH, force: true, dryRun: true })
  t.strictSame(ours.files, strays.map((stray) => join(mirror.folder, stray)).sort())
  // Java goes by a day, like us: the oracle looks a day ahead.
  t.equal((await java.orphans()).length, strays.length, 'Java finds as many')
  const { files } = await mirror.table.removeOrphans({ ...OLD_ENOUGH, force: true })
  t.strictSame(files, ours.files)
  t.strictSame(await java.orphans(), [])
  await check(part, mirror, 'after the clean-up')
  sameRows(t, await java.read({ tag: 'one' }), atTag, 'the tag by Java')
  sameRows(t, await branch.read(), onBranch, 'the branch by Java')
}

async function limits(part: Part): Promise<void> {
  const { t } = part
  const mirror = await Mirror.create(part.warehouse, 'expiry.limits', definition)
  for (let v = 0; v < 15; v++) await mirror.commit([{ k: v % 4, v }])
  const earliest = async () => (await inJava(part, mirror).system('snapshots')).map(({ snapshot_id }) => snapshot_id)[0]
  await mirror.table.expireSnapshots({ retainMin: 10, ...OLD_ENOUGH })
  t.equal(await earliest(), 6, 'ten are kept however old')
  await mirror.table.expireSnapshots({ retainMax: 4, retainMin: 1, olderThan: Date.now() - 3_600_000 })
  t.equal(await earliest(), 12, 'no more than four are kept however young')
  await check(part, mirror, 'expired twice')
  t.strictSame(await inJava(part, mirror).orphans(), [])
  t.notOk(existsSync(join(mirror.folder, 'snapshot', 'snapshot-11')))

  const consumed = await Mirror.create(part.warehouse, 'expiry.consumed', definition)
  for (let v = 0; v < 5; v++) await consumed.commit([{ k: v, v }])
  mkdirSync(join(consumed.folder, 'consumer'))
  writeFileSync(join(consumed.folder, 'consumer', 'consumer-stream'), '{"nextSnapshot":3}')
  t.strictSame(await inJava(part, consumed).system('consumers'), [{ consumer_id: 'stream', next_snapshot_id: 3 }])
  const first = await consumed.table.expireSnapshots({ retainMax: 100, retainMin: 1, ...OLD_ENOUGH })
  t.strictSame([first.expired, first.earliest], [[1, 2], 3], 'what a consumer still needs is kept')
  const second = await consumed.table.expireSnapshots({ retainMax: 1, retainMin: 1, ...OLD_ENOUGH })
  t.strictSame([second.expired, second.earliest], [[], 3], 'whatever the limit')
  await check(part, consumed, 'with a consumer')
}
