import type { Option } from '../../engine/options/option.ts'
import { groups } from '../../engine/options/registry.ts'

const intro = `<!-- Made by \`npm run docs\` from engine/options. Do not edit. -->

# Table options

Options are stored in the table, as texts, under the names that Apache Paimon gives them. Keys that are not listed here are
kept as they are: another engine may own them. Sizes count in 1024s (\`8 mb\`, \`64 kb\`, \`1g\`, plain numbers are bytes);
durations are \`1 h\`, \`3 min\`, \`10 s\`, \`500 ms\`, plain numbers are milliseconds. A value that is not of its type is refused
with [\`INVALID\`](errors.md#invalid).

The column *here* says what this version does with an option:

- **obeyed**: as described, with any value, or with those named. A table with another value is refused with
  [\`UNSUPPORTED\`](errors.md#unsupported): for writing when the option bears on writes, for reading too when it bears on reads.
- **only**: the engine has just the values named; others are refused in the same way.
- **kept**: stored and never looked at, for the reason given.

Options marked * cannot change once a table holds data.
`

/** The option reference, `docs/options.md`, from the registry. */
export function optionsPage(): string {
  const sections = groups.map(({ title, options }) => {
    const rows = Object.entries(options).map(([key, option]) => optionRow(key, option))
    return `## ${title}\n\n| option | type | default | bears on | meaning | here |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return [intro, ...sections].join('\n')
}

function optionRow(key: string, option: Option): string {
  const name = `\`${key}\`${option.immutable ? ' *' : ''}`
  const aliases =
    option.aliases === undefined ? '' : ` Also ${option.aliases.map((alias) => `\`${alias}\``).join(', ')}.`
  const cells = [
    name,
    typeText(option),
    defaultText(option),
    affectsText(option),
    option.text + aliases,
    hereText(option),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function typeText({ kind }: Option): string {
  return kind.name === 'enum' ? kind.form.replace('one of ', '') : kind.name
}

function defaultText(option: Option): string {
  if (option.default === undefined) return ''
  const text = option.kind.print(option.default)
  return text === '' ? '' : `\`${text}\``
}

function affectsText({ affects }: Option): string {
  return affects === 'none' ? '' : affects === 'read' ? 'reads, writes' : 'writes'
}

function hereText(option: Option): string {
  if (option.use === 'kept') return `kept: ${option.why}`
  if (option.use === 'refused') return `only ${option.only}`
  return option.only === undefined ? 'obeyed' : `obeyed: ${option.only}`
}
