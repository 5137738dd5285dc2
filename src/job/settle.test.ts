import { describe, expect, it } from 'vitest'
import type { FailureEntry } from './history.js'
import type { Outcome } from './outcome.js'
import { type AttemptFacts, MAX_RESULT_BYTES, resultJson, settle } from './settle.js'

const now = new Date('2030-01-01T00:00:10Z')
const startedAt = new Date('2030-01-01T00:00:00Z')
const context = { now, random: 0.5 }
const facts: AttemptFacts = {
  attempt: 0,
  crashAttempt: 0,
  maxAttempts: 3,
  chargeBase: 0,
  generation: 1,
  handbacks: 0,
  deadline: null,
  leaseId: '7:1',
  worker: 'w1',
  startedAt,
}
const error = new TypeError('smtp timeout')
const failed: Outcome = { type: 'failed', error, entry: 'error' }

describe('settling an attempt that waits for a callback', () => {
  const wait: Outcome = { type: 'wait', callbackId: '5', name: 'approval' }

  it('charges nothing, and says when the next attempt is due should the callback fail', () => {
    const settlement = settle({ ...facts, attempt: 2 }, wait, context)

    expect(settlement).toEqual({ type: 'wait', callbackId: '5', name: 'approval', retryDelayMs: 60_000 })
  })

  it("takes the kind's own backoff for that", () => {
    const backoff = (attempt: number) => 100 * (attempt + 1)

    expect(settle({ ...facts, attempt: 1 }, wait, { ...context, backoff })).toMatchObject({ retryDelayMs: 200 })
  })

  it('fails it as an error does, where the callback had failed', () => {
    const callbackFailed: Outcome = { type: 'callbackFailed', error, callback: 'approval' }

    expect(settle(facts, callbackFailed, context)).toMatchObject({
      type: 'retry',
      attempt: 1,
      entry: { type: 'callback_failed', name: 'TypeError', callback: 'approval' },
    })
    expect(settle({ ...facts, attempt: 2 }, callbackFailed, context)).toMatchObject({
      type: 'dead',
      reason: 'attempts_exhausted',
    })
  })

  it('gives the job up where its deadline has passed', () => {
    expect(settle({ ...facts, deadline: now }, wait, context)).toMatchObject({
      type: 'dead',
      reason: 'deadline_exceeded',
    })
  })
})

describe('settling a failed attempt', () => {
  it('retries after the backoff while attempts are left, and records what happened', () => {
    const settlement = settle({ ...facts, attempt: 1 }, failed, context)

    expect(settlement).toEqual({
      type: 'retry',
      attempt: 2,
      delayMs: 30_000,
      entry: {
        type: 'error',
        at: now,
        startedAt,
        generation: 1,
        attempt: 1,
        leaseId: '7:1',
        worker: 'w1',
        name: 'TypeError',
        message: 'smtp timeout',
        stack: expect.any(String),
        code: null,
        cause: [],
        truncated: false,
      },
    })
  })

  it.each([
    [1, 3, 'retry'],
    [2, 3, 'dead'],
    [0, 1, 'dead'],
    [9, 3, 'dead'],
  ])('with %i earlier failures of %i allowed: %s', (attempt, maxAttempts, type) => {
    expect(settle({ ...facts, attempt, maxAttempts }, failed, context)).toMatchObject({ type, attempt: attempt + 1 })
  })

  it('gives up as exhausted', () => {
    expect(settle({ ...facts, attempt: 2 }, failed, context)).toMatchObject({
      reason: 'attempts_exhausted',
      entry: { type: 'error', message: 'smtp timeout' },
    })
  })

  it('records a timeout as one', () => {
    expect(settle(facts, { type: 'failed', error, entry: 'timeout' }, context)).toMatchObject({
      entry: { type: 'timeout' },
    })
  })

  it("asks the kind's own backoff, and says where it could not be followed", () => {
    const followed = settle({ ...facts, attempt: 1 }, failed, { ...context, backoff: (attempt) => attempt * 500 })
    const clamped = settle(facts, failed, { ...context, backoff: () => Number.NaN })

    expect(followed).toMatchObject({ delayMs: 500 })
    expect(followed).not.toHaveProperty('entry.note')
    expect(clamped).toMatchObject({ delayMs: 15_000, entry: { note: expect.stringContaining('NaN') } })
  })

  it('waits as long as retryAfter says, and charges an attempt', () => {
    const outcome: Outcome = { type: 'retryAfter', delayMs: 99, error }

    expect(settle(facts, outcome, context)).toMatchObject({ type: 'retry', delayMs: 99, attempt: 1 })
    expect(settle({ ...facts, attempt: 2 }, outcome, context)).toMatchObject({ reason: 'attempts_exhausted' })
  })

  it('leaves no start beyond max_attempts + crash_limit where crashes have used them up', () => {
    const crashed = { ...facts, maxAttempts: 3, attempt: 1 }

    expect(settle({ ...crashed, crashAttempt: 3 }, failed, { ...context, crashLimit: 3 })).toMatchObject({
      type: 'retry',
    })
    expect(settle({ ...crashed, crashAttempt: 4 }, failed, { ...context, crashLimit: 3 })).toMatchObject({
      type: 'dead',
    })
    expect(settle({ ...crashed, crashAttempt: 4, chargeBase: 4 }, failed, context)).toMatchObject({ type: 'retry' })
  })
})

describe('settling what the handler says', () => {
  it('skip gives the job up with code and details, and charges nothing', () => {
    const details = { id: 5, note: 'password=hunter2' }

    expect(settle(facts, { type: 'skip', code: 'no_such_user', details }, context)).toMatchObject({
      type: 'dead',
      reason: 'skipped',
      attempt: 0,
      entry: { type: 'skipped', code: 'no_such_user', details: { id: 5, note: 'password=[secret]' } },
    })
  })

  it.each([
    ['a BigInt', { n: 1n }],
    ['large', 'x'.repeat(9000)],
    ['a Map', new Map()],
  ])('skip with details that are %s still gives up', (_, details) => {
    expect(settle(facts, { type: 'skip', code: 'c', details }, context)).toMatchObject({
      reason: 'skipped',
      entry: { details: { spillway_omitted: expect.any(String) } },
    })
  })

  it('snooze and rateLimited wait without a charge', () => {
    expect(settle(facts, { type: 'snooze', delayMs: 5 }, context)).toEqual({
      type: 'snooze',
      delayMs: 5,
      rateLimited: false,
    })
    expect(settle(facts, { type: 'rateLimited', delayMs: 5 }, context)).toEqual({
      type: 'snooze',
      delayMs: 5,
      rateLimited: true,
    })
  })

  it('revoke removes the job', () => {
    expect(settle(facts, { type: 'revoke' }, context)).toEqual({ type: 'revoke' })
  })
})

describe('settling a deadline', () => {
  it('gives up without a charge', () => {
    expect(settle({ ...facts, deadline: now }, { type: 'deadline' }, context)).toMatchObject({
      type: 'dead',
      reason: 'deadline_exceeded',
      attempt: 0,
      entry: {
        type: 'deadline',
        name: 'DeadlineExceeded',
        message: expect.stringContaining('2030-01-01T00:00:10.000Z'),
      },
    })
  })

  it.each([
    failed,
    { type: 'completed', result: 1 },
    { type: 'skip', code: 'c', details: null },
    { type: 'revoke' },
  ] as Outcome[])('comes before the word of a handler that was late ($type)', (outcome) => {
    expect(settle({ ...facts, deadline: now }, outcome, context)).toMatchObject({ reason: 'deadline_exceeded' })
    expect(settle({ ...facts, deadline: new Date(now.getTime() + 1) }, outcome, context)).not.toMatchObject({
      reason: 'deadline_exceeded',
    })
  })

  it('keeps what the handler threw as its cause', () => {
    const settlement = settle({ ...facts, deadline: now }, failed, context)

    expect((settlement as { entry: FailureEntry }).entry.cause).toMatchObject([{ message: 'smtp timeout' }])
  })
})

describe('settling a hand-back', () => {
  it('gives the job back, counts it, and does not look at the deadline', () => {
    expect(settle({ ...facts, handbacks: 8, deadline: now }, { type: 'handback' }, context)).toEqual({
      type: 'handback',
      handbacks: 9,
    })
  })

  it('parks the job at the tenth in a row', () => {
    expect(settle({ ...facts, handbacks: 9 }, { type: 'handback' }, context)).toMatchObject({
      type: 'park',
      reason: 'handed_back',
      handbacks: 10,
      entry: { type: 'handed_back', handbacks: 10 },
    })
  })
})

describe('a result', () => {
  it('is kept as JSON; nothing returned is null', () => {
    expect(resultJson(undefined)).toBeNull()
    expect(resultJson({ sent: 3, at: new Date(0) })).toBe('{"sent":3,"at":"1970-01-01T00:00:00.000Z"}')
    expect(resultJson(null)).toBe('null')
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular

  it.each([
    ['circular', circular, /itself/],
    ['a BigInt', { n: 1n }, /`n` is a BigInt/],
    ['a function', () => 1, /function/],
    ['a 100 MB text', 'x'.repeat(100_000_000), /limit is 65536/],
    ['a 100 MB Buffer', Buffer.alloc(100_000_000), /Buffer/],
    ['a Map', new Map(), /Map/],
    ['U+0000', 'a\u0000', /U\+0000/],
    ['a toJSON that throws', { toJSON: () => BigInt('x') }, /toJSON/],
  ])('that is %s is left out, and the job completes', (_, result, why) => {
    const started = process.cpuUsage()
    const settlement = settle(facts, { type: 'completed', result }, context)

    expect(settlement).toEqual({ type: 'complete', resultJson: expect.any(String) })
    const stored = JSON.parse((settlement as { resultJson: string }).resultJson) as { spillway_result_omitted: string }
    expect(stored.spillway_result_omitted).toMatch(why)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })

  it('of exactly 64 KiB is kept', () => {
    expect(resultJson('x'.repeat(MAX_RESULT_BYTES - 2))).toHaveLength(MAX_RESULT_BYTES)
    expect(resultJson('x'.repeat(MAX_RESULT_BYTES - 1))).toContain('spillway_result_omitted')
  })
})
