import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Oracle, startOracle } from './oracle.ts'
import { type Python, startPython } from './python.ts'

const run = promisify(execFile)
const setup = fileURLToPath(new URL('../setup', import.meta.url))

/** The other engines; a string says why one is missing. */
export interface Engines {
  readonly oracle: Oracle | string
  readonly python: Python | string
}

/**
 * Builds, installs and starts what the machine can hold. With `CI` set a missing engine is an error; elsewhere the tests that
 * need it are skipped, and say so.
 */
export async function startEngines(): Promise<Engines> {
  const [oracle, python] = await Promise.all([
    ready('java').then(() => startOracle(), missing('Apache Paimon (needs Java 17 and Maven)')),
    ready('python').then((executable) => startPython(executable), missing('Python engines (need Python 3 with venv)')),
  ])
  return { oracle, python }
}

export async function stopEngines({ oracle, python }: Engines): Promise<void> {
  await Promise.all([oracle, python].map((engine) => (typeof engine === 'string' ? undefined : engine.close())))
}

async function ready(part: string): Promise<string> {
  const { stdout } = await run(setup, [part], { maxBuffer: 2 ** 24 })
  return stdout.trim()
}

function missing(engine: string): (error: Error) => string {
  return (error) => {
    const why = `${engine} did not start: ${error.message}`
    if (process.env.CI) throw new Error(why, { cause: error })
    return why
  }
}
