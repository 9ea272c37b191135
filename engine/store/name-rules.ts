import { TableError } from '../errors.ts'

/**
 * Refuses names that could not be one folder or file of their own: empty or blank, longer than `maxBytes` in UTF-8, `.` and
 * `..`, with a slash, a backslash, a control character, or one of `forbidden`. Spaces, `#`, `%` and letters of any script pass.
 */
export function checkName(
  what: 'database' | 'table' | 'tag' | 'branch' | 'consumer',
  name: string,
  rules: { readonly maxBytes: number; readonly forbidden?: string },
): void {
  const refuse = (why: string): never => {
    const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)
    throw new TableError('INVALID', `${shown} cannot be the name of a ${what}: ${why}. Choose another name.`, {
      value: name,
    })
  }
  if (name.trim() === '') refuse('it is empty')
  if (name === '.' || name === '..') refuse('it means a folder')
  for (const character of name) {
    if (character === '/' || character === '\\' || character.codePointAt(0)! < 0x20 || character === '\x7f') {
      refuse(`it holds ${JSON.stringify(character)}`)
    }
    if (rules.forbidden?.includes(character) === true) refuse(`${character} has a meaning in names`)
  }
  if (/\p{Surrogate}/u.test(name)) refuse('it is not valid Unicode')
  const bytes = new TextEncoder().encode(name).length
  if (bytes > rules.maxBytes) refuse(`it has ${bytes} bytes, ${rules.maxBytes} are allowed`)
}
