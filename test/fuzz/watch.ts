/** What decoding one input took. */
export interface Cost {
  /** The largest array made at once, and all together; in bytes. */
  readonly largest: number
  readonly total: number
  readonly millis: number
}

const names = [
  'ArrayBuffer',
  'Uint8Array',
  'Int8Array',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
] as const

let largest = 0
let total = 0

/**
 * Counts what is made of `new ArrayBuffer`, `new Array` and typed arrays of a length from here on, and refuses one above `most` bytes before
 * it is made. For a process of its own: it puts stand-ins in the place of the global classes.
 */
export function watchAllocations(most: number): void {
  const note = (what: string, length: unknown, width: number): void => {
    if (typeof length !== 'number') return
    const bytes = length * width
    if (bytes > most) throw new Error(`${bytes} bytes asked for in one ${what}`)
    largest = Math.max(largest, bytes)
    total += bytes
  }
  const classes = globalThis as unknown as Record<string, { prototype: { constructor: unknown } }>
  for (const name of [...names, 'Array']) {
    const original = classes[name] as unknown as {
      new (...args: unknown[]): object
      prototype: { constructor: unknown }
    }
    const width = name === 'Array' ? 8 : ((original as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1)
    const watched: object = new Proxy(original, {
      construct(target, args, newTarget): object {
        note(name, args[0], width)
        return Reflect.construct(target, args, newTarget === watched ? target : newTarget) as object
      },
    })
    classes[name] = watched as never
    // `bytes.constructor === Uint8Array` stays true.
    if (name !== 'Array') original.prototype.constructor = watched
  }
}

/** Runs it and says what it cost; what it throws is thrown on. */
export async function costOf(run: () => unknown): Promise<{ readonly error: unknown; readonly cost: Cost }> {
  largest = 0
  total = 0
  let error: unknown
  const { user, system } = process.cpuUsage()
  try {
    await run()
  } catch (thrown) {
    error = thrown ?? new Error('nothing was thrown')
  }
  const spent = process.cpuUsage()
  return { error, cost: { largest, total, millis: (spent.user - user + spent.system - system) / 1000 } }
}
