import { TableError } from '../errors.ts'

/** `INVALID` for an option that `call` does not have: a misspelled one must not be taken for one that was left out. */
export function checkNames(call: string, given: object, known: readonly string[]): void {
  for (const option of Object.keys(given)) {
    if (known.includes(option)) continue
    throw new TableError('INVALID', `${call} has no option ${JSON.stringify(option)}. Give ${known.join(', ')}.`, {
      option,
    })
  }
}
