import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A JSON object as another program says it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

interface Answer {
  readonly id: number
  readonly ok: boolean
  readonly out: readonly Json[]
  readonly error: string
  readonly class: string
}

/** What another engine answered instead of a result. */
class RemoteError extends Error {
  /** Class of the error in the other program. */
  readonly remoteClass: string
  constructor(request: JsonObject, answer: Answer) {
    super(`${request.cmd}: ${answer.error}`)
    this.name = 'RemoteError'
    this.remoteClass = answer.class
  }
}

/**
 * A program that answers one JSON line for each it is asked: `{id, ok, out}` or `{id, ok: false, error, class}`. Calls may
 * overlap; the program takes them in order. When it dies, every open and later call rejects with what it last said on stderr.
 */
export class JsonLines {
  readonly #child: ChildProcess
  readonly #waiting = new Map<
    number,
    { request: JsonObject; resolve: (a: Answer) => void; reject: (e: Error) => void }
  >()
  readonly #ended: Promise<void>
  #nextId = 1
  #dead: Error | undefined
  #stderr = ''

  constructor(command: string, args: readonly string[]) {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4000)
    })
    createInterface({ input: child.stdout }).on('line', (line) => this.#answer(line))
    child.stdin.on('error', () => {}) // the exit says more than a broken pipe
    this.#ended = new Promise((resolve) => {
      const end = (why: string) => {
        this.#dead ??= new Error(`${command} ${args.join(' ')}: ${why}\n${this.#stderr}`)
        for (const { reject } of this.#waiting.values()) reject(this.#dead)
        this.#waiting.clear()
        resolve()
      }
      child.on('error', (error) => end(error.message))
      child.on('close', (code, signal) => end(`ended with ${signal ?? code}`))
    })
  }

  #answer(line: string): void {
    const answer: Answer = JSON.parse(line)
    const call = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (answer.ok) call?.resolve(answer)
    else call?.reject(new RemoteError(call.request, answer))
  }

  /** Asks once; gives the lines that the command printed. */
  async call(request: JsonObject): Promise<readonly Json[]> {
    if (this.#dead !== undefined) throw this.#dead
    const id = this.#nextId++
    const answer = await new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { request, resolve, reject })
      this.#child.stdin!.write(`${JSON.stringify({ id, ...request })}\n`)
    })
    return answer.out
  }

  /** Lets the program finish what it was asked, then waits for its end. */
  async close(): Promise<void> {
    this.#child.stdin!.end()
    await this.#ended
  }
}
