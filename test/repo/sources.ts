import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Paths of all TypeScript files below a folder, relative to the repository, with `/`. */
export function sourcesIn(folder: string): readonly string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.includes('/node_modules/'))
    .sort()
}

export function read(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8')
}

/** Source without comments, line numbers kept: for rules about code, not about prose. */
export function code(path: string): string {
  return read(path)
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}

/** Paths of all files under version control. */
export function trackedFiles(): readonly string[] {
  return execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').slice(0, -1)
}

/** `path:line` of every match of a pattern in a text. */
export function places(path: string, text: string, pattern: RegExp): readonly string[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []))
}
