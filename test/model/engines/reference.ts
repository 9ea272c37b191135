import { aggregate, NOTHING, type Rule, retract, type Standing, type Value } from './functions.ts'

export type Kind = '+I' | '-U' | '+U' | '-D'

/** One write of a key; columns left out are null. */
export interface Version {
  readonly kind: Kind
  readonly values: Readonly<Record<string, Value>>
}

/** Columns of a partial update that move together, by the order of `fields`. */
export interface Group {
  readonly fields: readonly string[]
  readonly columns: readonly string[]
  /** Its deletes remove the row. */
  readonly removes?: boolean
}

/** How the versions of a key become one row. */
export interface Rules {
  readonly engine: 'deduplicate' | 'partial-update' | 'aggregation' | 'first-row'
  readonly columns: readonly string[]
  readonly functions?: Readonly<Record<string, Rule>>
  readonly groups?: readonly Group[]
  /** Columns that order the versions before their arrival does. */
  readonly sequence?: readonly string[]
  readonly descending?: boolean
  readonly ignoreDelete?: boolean
  readonly removeOnDelete?: boolean
}

export type RowValues = Readonly<Record<string, Value>>

/**
 * The row of a key out of all its versions ever, in the order of their arrival, merged in one go: what the table must show whatever
 * was flushed and compacted in between. Undefined = there is none. Follows the rules of Paimon's merge engines; where its answer
 * hangs on what was compacted before, a delete ends all that came before it and leaves nothing behind.
 */
export function rowOf(rules: Rules, arrived: readonly Version[]): RowValues | undefined {
  // Paimon takes a row that stands alone as it is, also where a merge would leave some of it out.
  if (arrived.length === 1 && adds(arrived[0]!.kind)) return full(rules, arrived[0]!.values)
  const kept = rules.ignoreDelete ? arrived.filter(({ kind }) => adds(kind)) : arrived
  const versions = rules.sequence === undefined ? kept : inOrder(kept, rules.sequence, rules.descending === true)
  switch (rules.engine) {
    case 'deduplicate': {
      const last = versions.at(-1)
      return last !== undefined && adds(last.kind) ? full(rules, last.values) : undefined
    }
    case 'first-row':
      return versions[0] && full(rules, versions[0].values)
    case 'aggregation':
      return aggregated(rules, versions)
    case 'partial-update':
      return updated(rules, versions)
  }
}

function adds(kind: Kind): boolean {
  return kind === '+I' || kind === '+U'
}

function full({ columns }: Rules, values: RowValues): RowValues {
  return Object.fromEntries(columns.map((name) => [name, values[name] ?? null]))
}

/** Nulls lowest whatever the direction; versions that compare alike stay in the order of their arrival. */
function inOrder(versions: readonly Version[], fields: readonly string[], descending: boolean): readonly Version[] {
  return [...versions].sort((a, b) => compareFields(a.values, b.values, fields, descending))
}

function compareFields(a: RowValues, b: RowValues, fields: readonly string[], descending = false): number {
  for (const field of fields) {
    const [left, right] = [a[field] ?? null, b[field] ?? null]
    if (left === null || right === null) {
      if (left !== right) return left === null ? -1 : 1
      continue
    }
    const order = (left as number) < (right as number) ? -1 : (left as number) > (right as number) ? 1 : 0
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

function aggregated(rules: Rules, versions: readonly Version[]): RowValues | undefined {
  const ruleOf = (name: string): Rule =>
    rules.functions?.[name] ?? { function: rules.sequence?.includes(name) ? 'last_value' : 'last_non_null_value' }
  let row: Map<string, Standing> | undefined
  for (const { kind, values } of versions) {
    if (kind === '-D' && rules.removeOnDelete) {
      row = undefined
      continue
    }
    row ??= new Map()
    for (const name of rules.columns) {
      const standing = row.get(name) ?? NOTHING
      const value = values[name] ?? null
      row.set(
        name,
        adds(kind) ? aggregate(ruleOf(name), standing, value, false) : retract(ruleOf(name), standing, value),
      )
    }
  }
  return row && Object.fromEntries(rules.columns.map((name) => [name, row.get(name)!.value]))
}

function updated(rules: Rules, versions: readonly Version[]): RowValues | undefined {
  const { groups = [], functions = {} } = rules
  const grouped = new Set(groups.flatMap(({ fields, columns }) => [...fields, ...columns]))
  const free = rules.columns.filter((name) => !grouped.has(name))
  let row = new Map<string, Standing>()
  let exists = false
  const current = (name: string) => row.get(name)?.value ?? null
  const set = (name: string, value: Value) => row.set(name, { value, started: true })
  for (const { kind, values } of versions) {
    const add = adds(kind)
    const newest = ({ fields }: Group) => {
      if (fields.every((name) => (values[name] ?? null) === null)) return undefined
      return compareFields(values, Object.fromEntries(fields.map((name) => [name, current(name)])), fields) >= 0
    }
    const removing = kind === '-D' && groups.some((group) => group.removes && newest(group) === true)
    if (removing || (kind === '-D' && rules.removeOnDelete)) {
      row = new Map()
      exists = false
      // What the row was ordered by stands, so that nothing older comes after it.
      for (const { fields } of groups)
        for (const name of fields) if ((values[name] ?? null) !== null) set(name, values[name])
      continue
    }
    if (add) {
      exists = true
      for (const name of free) if ((values[name] ?? null) !== null) set(name, values[name])
    }
    for (const group of groups) {
      const isNewest = newest(group)
      if (isNewest === undefined) continue
      for (const name of group.columns) {
        const rule = functions[name]
        const standing = row.get(name) ?? NOTHING
        const value = values[name] ?? null
        if (rule !== undefined)
          row.set(name, add ? aggregate(rule, standing, value, !isNewest) : retract(rule, standing, value))
        else if (isNewest) set(name, add ? value : null)
      }
      if (isNewest) for (const name of group.fields) set(name, values[name] ?? null)
    }
  }
  return exists ? Object.fromEntries(rules.columns.map((name) => [name, current(name)])) : undefined
}
