import { describe, expect, it } from 'vitest'
import { rateLimited, retryAfter, returnedOutcome, revoke, skip, snooze, thrownOutcome } from './signals.js'

const error = new Error('x')

describe('a signal', () => {
  it.each([
    [() => skip('gone', { id: 1 }), { type: 'skip', code: 'gone', details: { id: 1 } }],
    [() => skip('gone'), { type: 'skip', code: 'gone', details: undefined }],
    [() => revoke(), { type: 'revoke' }],
    [() => snooze('5m'), { type: 'snooze', delayMs: 300_000 }],
    [() => snooze(5), { type: 'snooze', delayMs: 5 }],
    [() => retryAfter('1s', error), { type: 'retryAfter', delayMs: 1000, error }],
    [() => retryAfter(1), { type: 'retryAfter', delayMs: 1, error: 'retryAfter(1 ms)' }],
    [() => rateLimited('1m'), { type: 'rateLimited', delayMs: 60_000 }],
  ])('means the same returned and thrown (%s)', (make, outcome) => {
    expect(returnedOutcome(make())).toEqual(outcome)
    expect(thrownOutcome(make())).toEqual(outcome)
  })

  it('made by another copy of this package is recognised', () => {
    const foreign = { [Symbol.for('spillway.signal')]: { type: 'revoke' } }

    expect(returnedOutcome(foreign)).toEqual({ type: 'revoke' })
    for (const said of [{ type: 'completed' }, { type: 'teleport' }, null, 5]) {
      expect(returnedOutcome({ [Symbol.for('spillway.signal')]: said }).type).toBe('completed')
    }
  })

  it('cannot arrive as JSON', () => {
    expect(returnedOutcome(JSON.parse(JSON.stringify(revoke())))).toEqual({ type: 'completed', result: {} })
  })

  it.each([
    () => skip(''),
    () => skip('x'.repeat(256)),
    () => skip(5 as never),
    () => snooze(0),
    () => snooze(Number.NaN),
    () => retryAfter(-1),
    () => rateLimited('soon'),
  ])('that makes no sense is refused where it is made (%s)', (make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})

describe('anything else', () => {
  it.each([undefined, null, 0, 'x', { type: 'skip' }, [], () => 1])('returned is the result: %s', (value) => {
    expect(returnedOutcome(value)).toEqual({ type: 'completed', result: value })
  })

  it.each([undefined, null, 'x', error])('thrown is a failure: %s', (value) => {
    expect(thrownOutcome(value)).toEqual({ type: 'failed', error: value, entry: 'error' })
  })

  it('is not asked more than it can answer', () => {
    const trap = () => {
      throw new Error('trap')
    }

    expect(thrownOutcome(new Proxy({}, { get: trap })).type).toBe('failed')
  })
})
