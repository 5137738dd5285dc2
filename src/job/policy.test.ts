import { describe, expect, it } from 'vitest'
import { checkPolicyPatch, checkRetention, DEFAULT_POLICY, patchedPolicy, retentionClass } from './policy.js'

const DAY = 86_400_000

describe('the default policy', () => {
  it('is the contract’s', () => {
    expect(DEFAULT_POLICY).toMatchObject({
      dlqEnabled: true,
      retention: {
        completed: DAY,
        failed: 3 * DAY,
        cancelled: DAY,
        dlq: 30 * DAY,
        bin: 7 * DAY,
        held: null,
        archive: 365 * DAY,
      },
      maxGenerations: 10,
      crashLimit: 3,
      crashWindowMs: DAY,
      noHandlerAfterMs: DAY / 24,
    })
  })

  it('keeps what a patch does not name, inside retention too', () => {
    const policy = patchedPolicy(DEFAULT_POLICY, { dlqEnabled: false, retention: { dlq: null } })

    expect(policy).toEqual({
      ...DEFAULT_POLICY,
      dlqEnabled: false,
      retention: { ...DEFAULT_POLICY.retention, dlq: null },
    })
  })
})

describe('a policy patch', () => {
  it('is read with either spelling, durations and the older names', () => {
    expect(
      checkPolicyPatch({ dlq_enabled: false, maxGenerations: 3, retention: { dlq: '90d', completed: 0, held: null } }),
    ).toEqual({
      dlqEnabled: false,
      maxGenerations: 3,
      retention: { dlq: 90 * DAY, completed: 0, held: null },
    })
    expect(checkPolicyPatch({ dlq_retention: '1d' })).toEqual({ retention: { dlq: DAY } })
    expect(checkPolicyPatch({ 'retention.dlq': '1d' })).toEqual({ retention: { dlq: DAY } })
    expect(checkPolicyPatch({ archive: true, archive_retention: null })).toEqual({
      coldArchive: true,
      retention: { archive: null },
    })
    expect(checkPolicyPatch({ retention_ms: DAY })).toEqual({
      retention: { completed: DAY, failed: DAY, cancelled: DAY, dlq: DAY },
    })
  })

  it.each([[{ retention: { dlq: '90d' }, retention_ms: DAY }], [{ retention_ms: DAY, retention: { dlq: '90d' } }]])(
    '%j: what is named by itself has the last word',
    (patch) => {
      expect(checkPolicyPatch(patch)).toEqual({
        retention: { completed: DAY, failed: DAY, cancelled: DAY, dlq: 90 * DAY },
      })
    },
  )

  it.each([
    [{}],
    [null],
    [[]],
    ['x'],
    [{ retention: {} }],
    [{ dlqEnable: true }],
    [{ retention: { dql: DAY } }],
    [{ constructor: 1 }],
    [{ dlqEnabled: 'false' }],
    [{ dlqEnabled: undefined }],
    [{ maxGenerations: 0 }],
    [{ crashLimit: 1.5 }],
    [{ crashWindowMs: null }],
    [{ retention: { dlq: -1 } }],
    [{ retention: { dlq: 'soon' } }],
    [{ retention: 5 }],
  ])('%j is refused', (patch) => {
    expect(() => checkPolicyPatch(patch)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it('names what it does not know, and what it does', () => {
    expect(() => checkPolicyPatch({ dlqEnable: true })).toThrow(/"dlqEnable".*known are dlqEnabled/)
    expect(() => checkRetention({ dql: 1 })).toThrow(/"dql".*completed/)
  })
})

it.each([
  [0, 0],
  [DAY, 0],
  [DAY + 1, 1],
  [7 * DAY, 1],
  [7 * DAY + 1, 2],
  [30 * DAY, 2],
  [30 * DAY + 1, 3],
  [null, 3],
])('a retention of %s ms is of class %i', (ms, expected) => {
  expect(retentionClass(ms)).toBe(expected)
})
