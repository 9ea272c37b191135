import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)

/** Version of an installed package, found without relying on its `exports`. */
export function versionOf(name) {
  for (const base of require.resolve.paths(name)) {
    try {
      return JSON.parse(readFileSync(path.join(base, name, 'package.json'), 'utf8')).version
    } catch {}
  }
  return '?'
}

/** Bytes allocated on disk below a directory. A file that its store deletes meanwhile counts nothing. */
export function diskBytes(dir) {
  let total = 0
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name)
    if (entry.isDirectory()) total += diskBytes(full)
    else {
      const st = lstatSync(full, { throwIfNoEntry: false })
      if (st !== undefined) total += st.blocks === undefined ? st.size : st.blocks * 512
    }
  }
  return total
}

/** One numeric field of a /proc/<pid> file, in bytes; null where there is no /proc. */
export function procBytes(pid, file, field) {
  try {
    const line = readFileSync(`/proc/${pid}/${file}`, 'utf8')
      .split('\n')
      .find((l) => l.startsWith(`${field}:`))
    const [value, unit] = line
      .slice(field.length + 1)
      .trim()
      .split(/\s+/)
    return Number(value) * (unit === 'kB' ? 1024 : 1)
  } catch {
    return null
  }
}

export function median(values) {
  const v = values.filter((x) => x !== null && x !== undefined && !Number.isNaN(x)).sort((x, y) => x - y)
  if (v.length === 0) return null
  const mid = v.length >> 1
  return v.length % 2 ? v[mid] : (v[mid - 1] + v[mid]) / 2
}
