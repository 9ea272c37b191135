import { writeFileSync } from 'node:fs'
import { optionsPage } from './options-page.ts'

writeFileSync(new URL('../../docs/options.md', import.meta.url), optionsPage())
