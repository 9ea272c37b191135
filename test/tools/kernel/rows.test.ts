import { readFileSync } from 'node:fs'
import t from 'tap'
import { answerRows } from '../../../tools/kernel/rows.ts'

t.test('bytes, hash and buckets of random rows are those of Paimon', (t) => {
  const lines = readFileSync(new URL('../../golden/kernel/rows.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  t.equal(lines.length, 1200)
  const wrong: unknown[] = []
  for (const line of lines) {
    const { types, values, ...expected } = JSON.parse(line)
    const answer = answerRows({ types, values })
    if (JSON.stringify(answer) !== JSON.stringify(expected)) wrong.push({ types, values, expected, answer })
  }
  t.same(wrong, [])
  t.end()
})
