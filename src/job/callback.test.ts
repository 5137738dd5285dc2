import { describe, expect, it } from 'vitest'
import {
  CallbackFailed,
  CallbackGoneError,
  CallbackSettledError,
  failureOf,
  hashOfToken,
  readFailure,
} from './callback.js'
import { causeOf } from './cause.js'
import { describeThrown } from './thrown.js'

const at = new Date('2030-01-01T00:00:00Z')

describe('the failure of a callback', () => {
  it.each([
    ['a text', 'declined', { name: 'CallbackFailed', message: 'declined', code: null }],
    ['an error', new Error('declined'), { name: 'CallbackFailed', message: 'declined', code: null }],
    ['an error of a class', new TypeError('no'), { name: 'TypeError', message: 'no', code: null }],
    ['an object', { name: 'Declined', message: 'no', code: 'E1' }, { name: 'Declined', message: 'no', code: 'E1' }],
    ['an object without name', { message: 'no' }, { name: 'CallbackFailed', message: 'no', code: null }],
    ['what cannot be stored', 'a\0b', { name: 'CallbackFailed', message: 'a␀b', code: null }],
  ])('is data, whatever was given: %s', (_, given, failure) => {
    expect(failureOf(given)).toEqual(failure)
    expect(readFailure(JSON.stringify(failure))).toEqual(failure)
  })

  it('keeps no secrets', () => {
    expect(failureOf('https://user:hunter2@example.com said no').message).not.toContain('hunter2')
  })

  it('is thrown in the handler without a stack, so that it groups as one that came while the job waited', () => {
    const failure = { name: 'Declined', message: 'card 4711', code: 'E1' }

    const seen = describeThrown(new CallbackFailed(failure))

    expect(seen).toMatchObject({ ...failure, stack: null })
    const about = { kind: 'k', errorClass: 'Declined', message: 'card 4711', stack: null, reason: 'attempts_exhausted' }
    expect(causeOf({ ...about, stack: seen.stack })).toEqual(causeOf(about))
  })

  it('is one also where nothing is known of it', () => {
    expect(readFailure(null)).toEqual({ name: 'CallbackFailed', message: 'the callback failed', code: null })
  })
})

describe('what is told to a second answer', () => {
  it('is how it was settled, and whether it was the same', () => {
    const error = new CallbackSettledError('approval', 'completed', at, false)

    expect(error).toMatchObject({ code: 'callback_settled', state: 'completed', settledAt: at, isSame: false })
    expect(error.message).toBe(
      'cannot answer callback "approval": it was completed at 2030-01-01T00:00:00.000Z, and only the first answer counts',
    )
    expect(new CallbackSettledError('approval', 'completed', at, true).message).toMatch(/with this very answer$/)
  })

  it('is where the job is, and what had become of the callback', () => {
    const error = new CallbackGoneError('approval', 'cancelled', 'open', false)

    expect(error).toMatchObject({ code: 'callback_gone', jobState: 'cancelled', state: 'open' })
    expect(error.message).toBe('cannot answer callback "approval": the job that asked for it is cancelled')
    expect(new CallbackGoneError('a', null, 'timed_out', false).message).toMatch(/is gone; it timed out before$/)
    expect(new CallbackGoneError('a', 'completed', 'completed', true).message).toMatch(/it had this very answer$/)
  })
})

it('of a token only its hash is known', () => {
  expect(hashOfToken('secret')).toMatch(/^[0-9a-f]{64}$/)
})
