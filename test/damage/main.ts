import { runDamages } from './run.ts'
import { makeSubject, subjectNames } from './tables.ts'

/** `npm run damage -- [flips a file] [seed]`: the damage test with larger counts; `all` = a flip in each byte. */
const [flips = '40', seed = '1'] = process.argv.slice(2)
const count = flips === 'all' ? Number.POSITIVE_INFINITY : Number(flips)
let wrong = 0
for (const name of subjectNames) {
  const subject = await makeSubject(name)
  const outcomes = await runDamages(subject, () => ({ flips: count, cuts: count }), Number(seed))
  for (const [kind, { damages, right, refused, wrong: bad, untyped, slowestMillis }] of outcomes) {
    const line = `${damages} damages, ${right} reads right, ${refused} refused, ${bad.length} wrong, ${untyped.length} untyped`
    console.log(`${name} ${kind}: ${line}, slowest ${Math.round(slowestMillis)} ms`)
    for (const label of [...bad, ...untyped].slice(0, 20)) console.log(`  ${label}`)
    wrong += bad.length + untyped.length
  }
}
process.exitCode = wrong === 0 ? 0 : 1
