// Stores nothing: shows what the harness itself costs (row generation excluded, memory included).
export const info = {
  name: 'null',
  version: '-',
  value: '-',
  durability: { default: '-', fsync: '-' },
  verify: false,
}

export async function open() {
  return {
    ingest() {},
    overwrite() {},
    delete() {},
    compact() {},
    scan() {},
    range() {},
    get() {},
    close() {},
  }
}
