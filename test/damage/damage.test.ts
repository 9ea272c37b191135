import t from 'tap'
import { runDamages } from './run.ts'
import { makeSubject, subjectNames } from './tables.ts'

const flips = Number(process.env.DAMAGE_FLIPS ?? 1)
const seed = Number(process.env.DAMAGE_SEED ?? 1)

/**
 * What no reader can tell from a table that is meant to be so: the newest snapshot was rolled back, an option has another name. The
 * JSON files of the format have no checksums: see docs/damage.md.
 */
const looksMeant = /: snapshot-\d+ missing: |: (schema|snapshot)-\d+ bit /

for (const name of subjectNames) {
  t.test(
    `C057 C105 C114 C115 a damaged file of table ${name}: the right rows, or an error that says what is wrong`,
    async (t) => {
      const subject = await makeSubject(name)
      const counts = (kind: string) => ({ flips: kind === 'manifest-list' ? 1 : flips, cuts: 1 })
      for (const [kind, outcome] of await runDamages(subject, counts, seed, { files: 2, others: 1 })) {
        t.same(
          outcome.wrong.filter((label) => !looksMeant.test(label)),
          [],
          `${kind}: ${outcome.damages} damages, no wrong rows`,
        )
        t.same(outcome.untyped, [], `${kind}: ${outcome.refused} reads refused, all by a TableError`)
        t.ok(outcome.slowestMillis < 10_000, `${kind}: the slowest took ${Math.round(outcome.slowestMillis)} ms`)
      }
    },
  )
}
