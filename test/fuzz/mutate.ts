import type { Random } from '../../engine/ports/random.ts'

/** Changes bytes in the ways that decoders are prone to; the result is a copy. The same for the same random numbers. */
export function mutate(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const below = (end: number) => Math.floor(random.fraction() * end)
  let result: Uint8Array = bytes.slice()
  for (let rounds = 1 + below(3); rounds > 0; rounds--) result = changes[below(changes.length)]!(result, other, below)
  return result
}

type Below = (end: number) => number
type Change = (bytes: Uint8Array, other: Uint8Array, below: Below) => Uint8Array

/** Numbers that stand for lengths and counts in one of the formats, at and past every border. */
const numbers = [0, 1, -1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, -0x80000000, 0x40000000, 0x10000000, 1_000_000]

const varints: readonly (readonly number[])[] = [
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xfe, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x80, 0x80, 0x80, 0x80, 0x01],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
  [0x80, 0x80, 0x80, 0x01],
]

/** What opens a level of nesting: Thrift structs and lists, JSON arrays and objects, a spill list, types in a schema. */
const openers: readonly Uint8Array[] = [
  Uint8Array.of(0x1c),
  Uint8Array.of(0x19, 0x1c),
  Uint8Array.of(0x1b, 0x01, 0xcc),
  Uint8Array.of(3, 0, 0, 0, 0, 0),
  Uint8Array.of(5, 0, 1, 0, 0, 0),
  ...['[', '{"a":', '{"type":"ARRAY","element":', '{"type":"array","items":'].map((text) => Buffer.from(text)),
]

const changes: readonly Change[] = [
  function flip(bytes, _, below) {
    for (let count = 1 + below(4); count > 0 && bytes.length > 0; count--) bytes[below(bytes.length)]! ^= 1 << below(8)
    return bytes
  },
  function setByte(bytes, _, below) {
    if (bytes.length > 0) bytes[below(bytes.length)] = [0, 1, 0x7f, 0x80, 0xff, below(256)][below(6)]!
    return bytes
  },
  function setNumber(bytes, _, below) {
    const width = [2, 4, 8][below(3)]!
    if (bytes.length < width) return bytes
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const at = below(bytes.length - width + 1)
    const number = numbers[below(numbers.length)]!
    const little = below(2) === 0
    if (width === 2) view.setInt16(at, number, little)
    else if (width === 4) view.setInt32(at, number, little)
    else view.setBigInt64(at, BigInt(number) << (below(2) === 0 ? 0n : 31n), little)
    return bytes
  },
  function setVarint(bytes, _, below) {
    const varint = varints[below(varints.length)]!
    const at = below(bytes.length + 1)
    if (below(2) === 0) return join(bytes.subarray(0, at), Uint8Array.from(varint), bytes.subarray(at + 1))
    for (const [i, byte] of varint.entries()) if (at + i < bytes.length) bytes[at + i] = byte
    return bytes
  },
  function cut(bytes, _, below) {
    return bytes.slice(0, below(bytes.length + 1))
  },
  function remove(bytes, _, below) {
    const at = below(bytes.length + 1)
    return join(bytes.subarray(0, at), bytes.subarray(at + 1 + below(16)))
  },
  function insert(bytes, _, below) {
    const at = below(bytes.length + 1)
    const more = Uint8Array.from({ length: 1 + below(16) }, () => below(256))
    return join(bytes.subarray(0, at), more, bytes.subarray(at))
  },
  function splice(bytes, other, below) {
    const from = below(other.length + 1)
    return join(bytes.subarray(0, below(bytes.length + 1)), other.subarray(from))
  },
  function copyWithin(bytes, _, below) {
    const from = below(bytes.length + 1)
    return bytes.copyWithin(below(bytes.length + 1), from, from + below(64))
  },
  function nest(bytes, _, below) {
    const opener = openers[below(openers.length)]!
    const levels = [20, 100, 10_000][below(3)]!
    const at = below(bytes.length + 1)
    return join(bytes.subarray(0, at), ...Array.from({ length: levels }, () => opener), bytes.subarray(at))
  },
]

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
