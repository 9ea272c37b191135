import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { addTally, type Tally } from './tally.ts'

/** How long a run is and where it starts, as the environment says: MODEL_SEED repeats a run exactly. */
export function runOptions(): { readonly seed: number; readonly operations: number } {
  return {
    seed: Number(process.env.MODEL_SEED ?? randomInt(1, 2_000_000_000)),
    operations: Number(process.env.MODEL_OPERATIONS ?? 3000),
  }
}

/** Random operations in a process of their own; adds up what they met. Rejects with what that process says of a difference. */
export async function randomRun(seed: number, operations: number, tally: Tally): Promise<void> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const args = ['--import', 'tsx', main, String(seed), String(operations)]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 })
    const met = JSON.parse(stdout)
    addTally(tally, { ...met, levels: new Set(met.levels) })
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string }
    throw new Error(stderr === undefined || stderr === '' ? String(error) : stderr)
  }
}
