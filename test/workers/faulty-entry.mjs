// Thread side of the pool for tests of what may go wrong there. A file in the folder of spill files, named after the kind of a
// task, tells the next task of that kind how to fail; the task that takes it removes it.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { run as work } from '../../dist/workers/entry.js'

const faults = {
  /** Dies with half a file on disk. */
  exit(task) {
    writeFileSync(`${task.folder}/data-${task.fileUuid}-0.parquet`, 'PAR1 half')
    process.exit(1)
  },
  /** Does not look at its cancel flag. */
  deaf(task) {
    writeFileSync(`${task.folder}/data-${task.fileUuid}-0.parquet`, 'PAR1 half')
    const forever = new Int32Array(new SharedArrayBuffer(4))
    Atomics.wait(forever, 0, 0)
  },
  /** Uses up its heap. */
  memory() {
    const kept = []
    for (;;) kept.push(new Array(1000).fill({}))
  },
  /** A mistake outside of the task's promise. */
  crash() {
    return new Promise(() => {
      setTimeout(() => {
        throw new TypeError('outside')
      }, 0)
    })
  },
}

function faultOf(task) {
  const path = `${task.table.tempDirectory}/fault-${task.kind}`
  try {
    const fault = readFileSync(path, 'utf8')
    unlinkSync(path)
    return fault
  } catch {
    return undefined
  }
}

export function run(task) {
  const fault = faultOf(task)
  return fault === undefined ? work(task) : faults[fault](task)
}
