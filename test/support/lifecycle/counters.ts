import type { Job } from 'spillway'
import { expect } from 'vitest'
import type { Transition } from '../../../src/job/lifecycle.js'

/** What a row of the table says of the counters is what happened to them. */
export function expectCounters({ attempt, crash }: Transition, before: Job | null, after: Job | undefined): void {
  expect({
    attempt: after?.attempt,
    crash: after?.crashAttempt,
  }).toEqual({
    attempt: expected(attempt, before?.attempt, after),
    crash: expected(crash, before?.crashAttempt, after),
  })
}

function expected(
  change: Transition['attempt'],
  before: number | undefined,
  after: Job | undefined,
): number | undefined {
  if (change === '-' || after === undefined) return undefined
  // The retries of the scenarios are fresh.
  if (change === '0' || change === 'budget') return 0
  return change === '+1' ? (before ?? 0) + 1 : (before ?? 0)
}
