import { expect, it } from 'vitest'
import { viewOf } from './view.js'

it('renames keys, and makes times of times', () => {
  const wire = {
    dlq_at: '2030-01-31T12:00:00.000Z',
    waits_until: null,
    items: [{ max_attempts: 3, at: '2030-01-01T00:00:00Z' }],
  }

  expect(viewOf(wire)).toEqual({
    dlqAt: new Date('2030-01-31T12:00:00Z'),
    waitsUntil: null,
    items: [{ maxAttempts: 3, at: new Date('2030-01-01T00:00:00Z') }],
  })
})

it('leaves what users gave as it came, also where it looks like ours', () => {
  const payload = { created_at: '2030-01-31T12:00:00Z', some_key: { other_key: 1 } }
  const wire = { payload, arrived_by: { attempts_exhausted: 2 } }

  expect(viewOf(wire)).toEqual({ payload, arrivedBy: { attempts_exhausted: 2 } })
})
