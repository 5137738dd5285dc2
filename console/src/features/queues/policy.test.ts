import { expect, it } from 'vitest'
import type { Queue } from '../../api.js'
import { bodyOf, changedFields, typedOf } from './policy.js'

const DAY_MS = 86_400_000
const DEFAULT_POLICY: Queue['policy'] = {
  ...{
    dlqEnabled: true,
    dlqMaxRows: null,
    keepUnreviewed: false,
    coldArchive: false,
    maxGenerations: 10,
    crashLimit: 3,
  },
  ...{ crashWindowMs: DAY_MS, noHandlerAfterMs: 3_600_000 },
  retention: {
    ...{ completed: DAY_MS, failed: 3 * DAY_MS, cancelled: DAY_MS, dlq: 30 * DAY_MS },
    ...{ bin: 7 * DAY_MS, held: null, archive: null },
  },
}

it('sends nothing of a form that nobody has touched', () => {
  expect(changedFields(DEFAULT_POLICY, typedOf(DEFAULT_POLICY))).toEqual([])
})

it('sends what was changed and no more, and as it was typed what it cannot read', () => {
  const now = {
    ...typedOf(DEFAULT_POLICY),
    dlqRetention: 'none',
    binRetention: '2h',
    crashLimit: 'many',
    coldArchive: true,
  }

  expect(bodyOf(changedFields(DEFAULT_POLICY, now), now)).toEqual({
    retention: { dlq: null, bin: '2h' },
    crash_limit: 'many',
    cold_archive: true,
  })
})
