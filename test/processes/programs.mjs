// Programs that tests run as processes of their own, on the built library: `node programs.mjs <name> <folder> [number]...`.
// They print a line of JSON for each thing that a test may rely on from then on.
import { openWarehouse, t } from '../../dist/engine/index.js'

const [name, folder, ...numbers] = process.argv.slice(2)
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const [first, second] = numbers.map(Number)

/** Rows of a commit: each of them has the commit's value, so that a commit in part shows. */
const ROWS = 20

async function openTable(options = {}) {
  const warehouse = await openWarehouse(folder, { workers: 1, durability: 'none' })
  const table = await warehouse.createTable(
    'db.t',
    {
      fields: { k: t.int(), v: t.string() },
      primaryKey: ['k'],
      options: { bucket: 2, 'num-sorted-run.compaction-trigger': 3, ...options },
    },
    { ifNotExists: true },
  )
  return { warehouse, table }
}

const programs = {
  /**
   * Writer `first` commits for ever: rows of its own, and rows that all writers write. Each tenth commit is followed by an expiry,
   * some by a full compaction. Tells the value, the snapshot and the keys of each commit that has resolved.
   */
  async write() {
    let { warehouse, table } = await openTable()
    /** Id of the snapshot with these rows. Where the outcome is unknown, the table is opened anew and asked. */
    const commitRows = async (rows) => {
      for (;;) {
        await table.put(rows)
        try {
          return (await commitAtLast(table)).snapshots[0].id
        } catch (error) {
          if (error.code !== 'POISONED') throw error
          await warehouse.close({ discard: true })
          ;({ warehouse, table } = await openTable())
          if ((await table.get(rows[0].k))?.v === rows[0].v) return error.details.value
        }
      }
    }
    const last = await table.get(first * 1_000_000)
    const start = last === undefined ? 0 : Number(last.v.split(' ')[1]) + 1
    for (let commit = start; commit < start + (second || 1e9); commit++) {
      const v = `${first} ${commit}`
      const own = Array.from({ length: ROWS }, (_, i) => first * 1_000_000 + 1 + commit * ROWS + i)
      const shared = [first * 1_000_000, commit % 7, 7 + (commit % 3)]
      const id = await commitRows([...own, ...shared].map((k) => ({ k, v })))
      tell({ v, id, own, shared })
      if (commit % 10 === 9) await table.expireSnapshots({ retainMin: 3, retainMax: 5, olderThan: Date.now() })
      if (commit % 25 === 24) await table.compact({ full: true }).catch(conflict)
    }
    await table.close()
  },

  /** Scans again and again until its input ends; tells how often, and how many commits it saw in part. */
  async read() {
    const warehouse = await openWarehouse(folder, { readOnly: true, workers: 0 })
    const table = await warehouse.table('db.t')
    let [scans, torn, expired, most] = [0, 0, 0, 0]
    let open = true
    process.stdin.resume().once('end', () => {
      open = false
    })
    tell('ready')
    while (open) {
      const rows = new Map()
      try {
        for await (const { k, v } of table.scan())
          if (k % 1_000_000 > 0 && k > 1000) rows.set(v, (rows.get(v) ?? 0) + 1)
      } catch (error) {
        if (error.code !== 'EXPIRED') throw error
        expired++
        continue
      }
      scans++
      torn += [...rows.values()].filter((count) => count !== ROWS).length
      if (rows.size < most) torn++
      most = rows.size
    }
    tell({ scans, torn, expired, commits: most })
  },

  /** Opens with the lock and keeps it. */
  async lock() {
    await openWarehouse(folder, { exclusive: true, workers: 0 })
    tell('locked')
    setInterval(() => undefined, 1000)
  },
}

/** Where others commit without a pause a commit may lose all its tries: its rows are kept, and it is called again. */
async function commitAtLast(table) {
  for (;;) {
    try {
      return await table.commit()
    } catch (error) {
      conflict(error)
    }
  }
}

/** Another writer's compaction may come first: then ours is dropped, and that is all. */
function conflict(error) {
  if (error.code !== 'CONFLICT') throw error
}

await programs[name]()
