import { describe, expect, it } from 'vitest'
import {
  AlreadyRetriedError,
  ERRORS,
  FingerprintQuarantinedError,
  InvalidStateError,
  isSpillwayError,
  PayloadRefusedError,
  PayloadTooLargeError,
  SpillwayError,
  UniqueConflictError,
} from './errors.js'

describe('the catalogue', () => {
  it.each(Object.entries(ERRORS))(
    '%s has an HTTP error status and an exit code the CLI knows',
    (_, { status, exit }) => {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(600)
      expect([1, 2, 3, 4, 5]).toContain(exit)
    },
  )

  it('gives what was not found 3, conflicts 4 and an unreachable store 5', () => {
    expect(ERRORS.not_found).toEqual({ status: 404, exit: 3 })
    expect(ERRORS.invalid_state).toEqual({ status: 409, exit: 4 })
    expect(ERRORS.fingerprint_quarantined).toEqual({ status: 423, exit: 4 })
    expect(ERRORS.selector_refused).toEqual({ status: 422, exit: 2 })
    expect(ERRORS.store_unavailable).toEqual({ status: 503, exit: 5 })
  })
})

describe('an error', () => {
  it('is told by its code, and named by its class', () => {
    const error = new UniqueConflictError('invoice-7', '42')

    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'unique_conflict', name: 'UniqueConflictError', holderId: '42' })
    expect(error.message).toContain('job 42')
  })

  it('is recognised when it comes from another copy of this package', () => {
    expect(isSpillwayError(Object.assign(new Error('x'), { code: 'lease_lost' }))).toBe(true)
    expect(isSpillwayError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe(false)
    expect(isSpillwayError(undefined)).toBe(false)
  })

  it('says what state was found and which would do', () => {
    const error = new InvalidStateError('42', 'running', 'retry', ['archived', 'failed'])

    expect(error.message).toBe('cannot retry job 42: it is running, and only archived or failed jobs can')
    expect(error).toMatchObject({ code: 'invalid_state', jobId: '42', state: 'running', event: 'retry' })
  })

  it.each(['completed', 'cancelled'] as const)('points from a refused retry of a %s job to clone', (state) => {
    expect(new InvalidStateError('42', state, 'retry', ['archived', 'failed']).message).toContain('clone')
  })

  it('carries what a catcher wants', () => {
    expect(new PayloadRefusedError('items[3].id', 'is a BigInt')).toMatchObject({
      code: 'payload_refused',
      path: 'items[3].id',
    })
    expect(new PayloadTooLargeError(11, 10)).toMatchObject({ code: 'payload_too_large', bytes: 11, maxBytes: 10 })
    expect(new AlreadyRetriedError('42', 'available')).toMatchObject({ code: 'already_retried', state: 'available' })
    expect(new FingerprintQuarantinedError('abc', 'mail').message).toContain('spillway quarantine release abc')
  })
})
