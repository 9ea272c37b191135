import tap from 'tap'
import type { FollowOptions } from '../../engine/api/calls.ts'

// The compiler proves this file, as it does fields.test.ts.

tap.test('a reader begins at a snapshot or with the rows that are there', (tt) => {
  const starts: FollowOptions<'k'>[] = [
    {},
    { from: 1 },
    { from: 1, initial: false },
    { initial: true, consumer: 'c', columns: ['k'] },
    { initial: [true, false].includes(true) },
  ]
  // @ts-expect-error from and initial contradict each other
  const both: FollowOptions<'k'> = { from: 1, initial: true }
  // @ts-expect-error not a column
  const extra: FollowOptions<'k'> = { columns: ['v'] }
  tt.ok([starts, both, extra])
  tt.end()
})
