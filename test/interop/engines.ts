import type { Test } from 'tap'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { type Arrival, drawFrom, Subject } from '../model/engines/subject.ts'
import { type ModelTable, tables } from '../model/engines/tables.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Engines } from './support/engines.ts'
import type { Json } from './support/json-lines.ts'
import type { JsonRow, OracleTable } from './support/oracle.ts'
import { part } from './support/part.ts'
import { toJson } from './support/values.ts'

/** Java reads, writes and compacts tables of each merge engine that we write and compact, in turns; both show what the model holds. */
export async function checkEngines(t: Test, engines: Engines): Promise<void> {
  for (const [seed, table] of tables.entries()) {
    await part(t, engines, `in turns with Java: ${table.name}`, async ({ t, java, warehouse }) => {
      await takeTurns(t, withoutLeaks(table), 1000 + seed, warehouse.path, (path) => java.table(path, 'db.t'))
    })
  }
}

/** What was written shows at once. Deletion vectors have turns of their own. */
const ALWAYS_SHOWN = { 'deletion-vectors.enabled': 'false', 'write-only': 'false' }

/**
 * Where a delete removes the row, Java merges later rows onto the values of the delete for as long as it is not compacted away: deletes
 * without values show the same rows in both.
 */
function withoutLeaks(model: ModelTable): ModelTable {
  const table = { ...model, fixed: ALWAYS_SHOWN }
  if (table.rules.removeOnDelete) return { ...table, kinds: 'keys' }
  if (table.rules.groups?.some((group) => group.removes)) return { ...table, kinds: 'rows', bareDeletes: true }
  return table
}

async function takeTurns(t: Test, model: ModelTable, seed: number, path: string, open: (path: string) => OracleTable) {
  const place = { fs: createNodeFileSystem({ sync: false }), clock: nodeClock, path }
  const subject = await Subject.open(model, drawFrom(seededRandom(seed)), place)
  const java = open(path)
  const fields = { id: { kind: 'int', nullable: false } as DataType, ...typesOf(model) }
  const same = async (when: string) => {
    await t.resolves(subject.check(true), `ours ${when}`)
    const expected = [...subject.expected()].map(([id, row]) => jsonRow(fields, { id, ...row }))
    const rows = (await java.read()).map((row) =>
      sortedLists(Object.fromEntries(Object.keys(fields).map((name) => [name, row[name]!]))),
    )
    t.strictSame(
      rows,
      expected.sort((a, b) => Number(a.id) - Number(b.id)),
      `Java ${when}`,
    )
  }
  const ours = async (commits: number) => {
    for (let i = 0; i < commits; i++) {
      await subject.take({ op: 'write', rows: subject.versions(5) })
      await subject.take({ op: 'commit' })
    }
  }
  // One row a commit: what Java merges in its buffer, it merges without the older rows that a retraction is about.
  const javas = async (commits: number) => {
    const lines = subject.versions(commits).map((version) => line(model, fields, version))
    // What is under way here ends first: Java gives up a commit whose files another compaction took.
    await subject.reopen()
    await java.write(lines.flatMap((one) => [one, { commit: true as const }]))
    await subject.reopen()
  }
  try {
    await ours(4)
    await same('after our commits')
    await javas(6)
    await same("after Java's commits")
    await ours(1)
    await subject.take({ op: 'compact', full: false })
    await same('after our compaction')
    await subject.reopen()
    await java.compact({ full: true })
    await subject.reopen()
    await same("after Java's full compaction")
    await ours(2)
    await javas(3)
    await subject.take({ op: 'compact', full: true })
    await subject.take({ op: 'commit' })
    await same('after our full compaction')
    const { problems, files } = await java.verify()
    t.strictSame(problems, [], `Java finds nothing wrong in ${files} files`)
  } finally {
    await subject.close()
  }
}

function typesOf({ columns }: ModelTable): Readonly<Record<string, DataType>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, { type }]) => [name, (type as unknown as { readonly type: DataType }).type]),
  )
}

function line({ kinds }: ModelTable, fields: Readonly<Record<string, DataType>>, { id, kind, values }: Arrival) {
  const row = jsonValues(fields, { id, ...values })
  return kinds === 'all' ? { row: { ...row, op: kind } } : { row, kind }
}

function jsonValues(fields: Readonly<Record<string, DataType>>, row: Readonly<Record<string, unknown>>): JsonRow {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, toJson(type, row[name])]))
}

function jsonRow(fields: Readonly<Record<string, DataType>>, row: Readonly<Record<string, unknown>>): JsonRow {
  return sortedLists(jsonValues(fields, row))
}

/** Maps, sets and nested tables keep no order. */
function sortedLists(row: JsonRow): JsonRow {
  const sorted = (value: Json): Json =>
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, sorted(value ?? null)]))
}
