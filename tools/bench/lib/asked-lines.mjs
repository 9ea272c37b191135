import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A program that answers one JSON line for each it is asked, in order: `{id, ok, out}` or `{id, ok: false, error}`. */
export function askedLines(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let id = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line)
    const { resolve, reject } = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (answer.ok) resolve(answer.out)
    else reject(new Error(answer.error))
  })
  child.on('close', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${command} ended with ${code}`))
  })
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        id++
        waiting.set(id, { resolve, reject })
        child.stdin.write(`${JSON.stringify({ id, ...request })}\n`)
      }),
    end: () => child.stdin.end(),
  }
}
