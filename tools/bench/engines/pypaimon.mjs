// Apache Paimon tables through the pypaimon Python package, in a Python process fed over pipes.
// Needs PYTHON to name an interpreter that has pypaimon (default: python3). Not an npm dependency.
// A point read costs a whole scan plan there, so fewer gets are measured.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function makeEngine(name, mode) {
  const info = {
    name,
    version: '?',
    value: 'Parquet columns',
    durability: { default: 'file writes, no fsync', fsync: 'file writes, no fsync (no such option)' },
    limits: { gets: 50, ranges: 5 },
  }

  async function open(dir) {
    const child = spawn(
      process.env.PYTHON ?? 'python3',
      [fileURLToPath(new URL('./pypaimon_host.py', import.meta.url)), dir, mode],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    )
    const queue = []
    let failed = null
    let chunks = []
    let have = 0
    function take(size) {
      const all = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, have)
      chunks = [all.subarray(size)]
      have -= size
      return all.subarray(0, size)
    }
    let header = null
    child.stdout.on('data', (data) => {
      chunks.push(data)
      have += data.length
      for (;;) {
        if (header === null) {
          if (have < 4) return
          if (chunks[0].length < 4) chunks = [Buffer.concat(chunks, have)]
          const size = chunks[0].readUInt32LE(0)
          if (have < 4 + size) return
          header = JSON.parse(
            take(4 + size)
              .subarray(4)
              .toString('utf8'),
          )
          header.total = header.sizes.reduce((x, y) => x + y, 0)
        }
        if (have < header.total) return
        const body = take(header.total)
        let at = 0
        const buffers = header.sizes.map((size) => {
          at += size
          return body.subarray(at - size, at)
        })
        const { resolve, reject } = queue.shift()
        if (header.error) reject(new Error(header.error))
        else resolve({ ...header, buffers })
        header = null
      }
    })
    child.on('exit', (code) => {
      failed = new Error(`python exited with ${code}`)
      for (const { reject } of queue) reject(failed)
    })
    child.stdin.on('error', () => {})
    function call(op, fields = {}, buffers = []) {
      if (failed) return Promise.reject(failed)
      return new Promise((resolve, reject) => {
        queue.push({ resolve, reject })
        const head = Buffer.from(JSON.stringify({ op, ...fields, sizes: buffers.map((b) => b.length) }))
        const size = Buffer.alloc(4)
        size.writeUInt32LE(head.length)
        child.stdin.write(Buffer.concat([size, head, ...buffers]))
      })
    }

    const int64 = (values) => {
      const out = new BigInt64Array(values.length)
      for (let k = 0; k < values.length; k++) out[k] = BigInt(values[k])
      return Buffer.from(out.buffer)
    }
    function strings(values) {
      const body = Buffer.from(values.join(''), 'latin1') // the workload's text is ASCII
      const offsets = new Int32Array(values.length + 1)
      let at = 0
      for (let k = 0; k < values.length; k++) offsets[k + 1] = at += values[k].length
      return [Buffer.from(offsets.buffer), body]
    }
    const columns = (rows) => [
      int64(rows.map((r) => r.id)),
      int64(rows.map((r) => r.a)),
      Buffer.from(Float64Array.from(rows, (r) => r.b).buffer),
      ...strings(rows.map((r) => r.name)),
      ...strings(rows.map((r) => r.payload)),
      int64(rows.map((r) => r.ts)),
    ]
    const copy = (buffer, Type) => new Type(Uint8Array.from(buffer).buffer)
    function emit({ n, buffers }, onRow) {
      const id = copy(buffers[0], BigInt64Array)
      const a = copy(buffers[1], BigInt64Array)
      const b = copy(buffers[2], Float64Array)
      const nameAt = copy(buffers[3], Int32Array)
      const name = buffers[4].toString('latin1')
      const payloadAt = copy(buffers[5], Int32Array)
      const payload = buffers[6].toString('latin1')
      const ts = copy(buffers[7], BigInt64Array)
      for (let k = 0; k < n; k++) {
        onRow({
          id: Number(id[k]),
          a: Number(a[k]),
          b: b[k],
          name: name.slice(nameAt[k], nameAt[k + 1]),
          payload: payload.slice(payloadAt[k], payloadAt[k + 1]),
          ts: Number(ts[k]),
        })
      }
    }

    info.version = (await call('open')).version
    const write = (rows) => call('write', { n: rows.length }, columns(rows))
    return {
      ingest: write,
      overwrite: write,
      delete: (ids) => call('delete', { n: ids.length }, [int64(ids)]),
      async scan(onPair) {
        const { n, buffers } = await call('scan')
        const id = copy(buffers[0], BigInt64Array)
        const a = copy(buffers[1], BigInt64Array)
        for (let k = 0; k < n; k++) onPair(Number(id[k]), Number(a[k]))
      },
      range: async (lo, hi, onRow) => emit(await call('range', { lo, hi }), onRow),
      async get(id) {
        let row
        emit(await call('get', { id }), (r) => (row = r))
        return row
      },
      aggregate: async () => (await call('aggregate')).groups,
      usage: () => call('usage'),
      async close() {
        await call('close')
        child.stdin.end()
      },
    }
  }
  return { info, open }
}

export const { info, open } = makeEngine('pypaimon', 'python')
