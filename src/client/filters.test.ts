import { describe, expect, it } from 'vitest'
import { actOf } from './act.js'
import { checkCauseFilter, checkDlqFilter, checkGroupFilter, checkJobFilter, checkSpan } from './filters.js'

const CHECKS = {
  jobs: checkJobFilter,
  'dead letters': checkDlqFilter,
  groups: checkGroupFilter,
  causes: checkCauseFilter,
  'a span of time': (filter: object) => checkSpan(filter, new Date()),
} as const

describe('texts that no store can hold', () => {
  const hostile = ['a\0b', '\ud800', 'x\udfff']

  it.each(Object.entries(CHECKS))('are refused by the filter of %s before the store sees them', (_, check) => {
    for (const text of hostile) {
      expect(() => check({ queue: text })).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/refused|option/) }),
      )
      if (check !== CHECKS['a span of time']) expect(() => check({ kind: text } as object)).toThrow()
    }
    expect(() => check({ queue: '💥' })).not.toThrow()
  })

  it.each([checkJobFilter, checkCauseFilter])('are refused among several queues', (check) => {
    expect(() => check({ queues: ['a', 'b\0'] })).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    expect(check({ queues: ['a', 'b'] })).toEqual({ queues: ['a', 'b'] })
  })

  it.each(['actor', 'reason', 'requestId'])('are refused as the %s of an action', (key) => {
    for (const text of hostile) {
      expect(() => actOf('sdk', { [key]: text })).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    }
  })
})
