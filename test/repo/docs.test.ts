import { readFileSync } from 'node:fs'
import t from 'tap'
import { errorCodes } from '../../engine/errors.ts'
import { optionsPage } from '../../tools/docs/options-page.ts'

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

t.test('docs/options.md is what the registry says (npm run docs)', async (t) => {
  t.equal(page('options.md'), optionsPage())
})

t.test('docs/errors.md has a heading for each code, with its meaning, causes and next step', async (t) => {
  const sections = page('errors.md').split(/^## /m).slice(1)
  t.strictSame(
    sections.map((section) => section.slice(0, section.indexOf('\n'))),
    Object.keys(errorCodes),
  )
  for (const section of sections) {
    const [code, , meaning] = section.split('\n')
    t.equal(meaning, errorCodes[code as keyof typeof errorCodes])
    t.match(section, /^- Causes: .+/m, `${code}: causes`)
    t.match(section, /^- Next: .+/m, `${code}: next step`)
  }
})
