// Programs of the tests that need a process of their own: `node child.mjs <name> <folder>`, a line of JSON for the test.
import { readdirSync, readFileSync } from 'node:fs'
import { openWarehouse, t } from '../../dist/engine/index.js'

const [name, folder] = process.argv.slice(2)
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const peakMegabytes = () => Math.round(process.resourceUsage().maxRSS / 1024)
const megabytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20)

const definition = (options = {}) => ({
  fields: { k: t.int(), v: t.string() },
  primaryKey: ['k'],
  options: { bucket: 2, 'num-sorted-run.compaction-trigger': 3, ...options },
})

async function fill(table, commits, rows) {
  for (let i = 0; i < commits; i++) {
    await table.put(Array.from({ length: rows }, (_, k) => ({ k, v: `commit ${i} row ${k}` })))
    await table.commit()
  }
}

const programs = {
  /** Ends without closing anything: no idle thread may keep it alive. */
  async forget() {
    const warehouse = await openWarehouse(folder, { workers: 2, durability: 'none' })
    const table = await warehouse.createTable('db.t', definition())
    await fill(table, 8, 500)
    await table.compact({ full: true })
    for await (const row of table.scan({ limit: 3 })) tell(row.k)
  },

  /** Closes while flushes, compactions, a commit and a scan are under way. */
  async busy() {
    const warehouse = await openWarehouse(folder, { workers: 2, durability: 'none' })
    const table = await warehouse.createTable('db.t', definition({ 'write-buffer-size': '1 mb' }))
    await fill(table, 5, 20_000)
    const scan = table.scan()
    await scan.next()
    const work = [
      table.compact({ full: true }).catch((error) => tell(error.code)),
      table.put(Array.from({ length: 20_000 }, (_, k) => ({ k, v: 'last' }))),
      table.put({ k: 20_000, v: 'last of all' }),
    ]
    const commit = table.commit()
    await warehouse.close()
    await warehouse.close()
    await table.close()
    tell((await commit).created)
    await Promise.all(work)
    tell(
      await scan.next().then(
        ({ done }) => done,
        ({ code }) => code,
      ),
    )
  },

  /** C124 */
  async rounds() {
    const figures = []
    for (let round = 1; round <= 40; round++) {
      const warehouse = await openWarehouse(folder, { workers: 1, durability: 'none' })
      const table = await warehouse.createTable('db.t', definition(), { ifNotExists: true })
      await table.put([{ k: round, v: 'x' }])
      await table.commit()
      await table.compact({ full: true })
      await warehouse.close()
      if (round % 10 === 0) {
        const threads = readFileSync('/proc/self/status', 'utf8').match(/Threads:\s+(\d+)/)[1]
        figures.push({ threads: Number(threads), files: readdirSync('/proc/self/fd').length, megabytes: megabytes() })
      }
    }
    tell(figures)
  },

  /** C116 */
  async merge() {
    const [runs, rows, keys] = [60, 20_000, 300_000]
    const contentOf = (key, run) => `${key} in ${run} `.padEnd(100, String((key * 31 + run) % 977))
    const newest = new Int8Array(keys).fill(-1)
    const warehouse = await openWarehouse(folder, { workers: 2, durability: 'none', tempDir: folder })
    const table = await warehouse.createTable('db.t', definition({ bucket: 1, 'write-only': true }))
    let random = 42
    for (let run = 0; run < runs; run++) {
      for (let done = 0; done < rows; done += 5000) {
        const batch = []
        for (let i = 0; i < 5000; i++) {
          random = (Math.imul(random, 1664525) + 1013904223) >>> 0
          const k = random % keys
          newest[k] = run
          batch.push({ k, v: contentOf(k, run) })
        }
        await table.put(batch)
      }
      await table.commit()
    }
    const spilled = []
    table.on('compaction', (event) => spilled.push(event.spilledBytes))
    const before = table.levels()[0].runs
    await table.compact({ full: true })
    let found = 0
    let wrong = 0
    for await (const { k, v } of table.scan()) {
      found++
      if (v !== contentOf(k, newest[k])) wrong++
    }
    const expected = newest.reduce((count, run) => count + (run >= 0 ? 1 : 0), 0)
    await warehouse.close()
    tell({ before, spilled, found, expected, wrong, peakMegabytes: peakMegabytes() })
  },

  /** C116, the other half: few rows, each a large one. */
  async large() {
    const bytes = Number(process.argv[4])
    const warehouse = await openWarehouse(folder, { workers: 2, durability: 'none', tempDir: folder })
    const table = await warehouse.createTable('db.t', {
      fields: { k: t.int(), v: t.bytes() },
      primaryKey: ['k'],
      options: { bucket: 1, 'write-only': true, 'write-buffer-size': '64 mb' },
    })
    const contentOf = (k) => {
      const words = new Uint32Array(bytes / 4)
      let random = k + 1
      for (let at = 0; at < words.length; at++) {
        random = (Math.imul(random, 1664525) + 1013904223) >>> 0
        words[at] = random
      }
      return new Uint8Array(words.buffer)
    }
    for (let k = 0; k < 10; k++) {
      await table.put({ k, v: contentOf(k) })
      await table.commit()
    }
    await table.compact({ full: true })
    let right = 0
    for await (const { k, v } of table.scan()) if (Buffer.compare(v, contentOf(k)) === 0) right++
    await warehouse.close()
    tell({ right, peakMegabytes: peakMegabytes() })
  },

  /** Far more rows than the write buffer holds, no commit in between. */
  async budget() {
    const warehouse = await openWarehouse(folder, { workers: 2, durability: 'none' })
    const table = await warehouse.createTable('db.t', definition({ 'write-buffer-size': '8 mb', 'write-only': true }))
    const text = 'x'.repeat(1000)
    const megabytesAt = []
    for (let i = 0; i < 400; i++) {
      await table.put(Array.from({ length: 500 }, (_, k) => ({ k: i * 500 + k, v: `${i} ${k} ${text}` })))
      if (i % 100 === 99) megabytesAt.push(megabytes())
    }
    await table.commit()
    let rows = 0
    for await (const batch of table.scanArrow({ columns: ['k'] })) rows += batch.numRows
    await warehouse.close()
    tell({ rows, megabytesAt, peakMegabytes: peakMegabytes() })
  },

  /** C058 */
  async zstd() {
    const warehouse = await openWarehouse(folder, { workers: 0, durability: 'none' })
    const table = await warehouse.createTable('db.t', definition({ bucket: 1, 'write-only': true }))
    for (let i = 0; i < 300; i++) {
      await table.put(Array.from({ length: 100 }, (_, k) => ({ k: i * 100 + k, v: `row ${k} of ${i}` })))
      await table.commit()
    }
    const passes = []
    for (let pass = 0; pass < 3; pass++) {
      let rows = 0
      for await (const batch of table.scanArrow()) rows += batch.numRows
      passes.push({ rows, megabytes: megabytes() })
    }
    await warehouse.close()
    tell(passes)
  },
}

await programs[name]()
