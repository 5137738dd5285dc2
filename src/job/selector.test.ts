import { describe, expect, it } from 'vitest'
import { checkSelector } from './selector.js'

describe('a selector', () => {
  it.each([
    [{ queue: 'billing' }],
    [{ kind: 'mail', tag: 'urgent', state: 'archived' }],
    [{ reason: 'skipped' }],
    [{ cause: 'ab12' }],
    [{ ids: ['1', '9007199254740993', 'not-a-number'] }],
    [{ all: true }],
    [{ all: true, queue: 'billing', error: 'timeout' }],
  ])('%j is taken as it is', (selector) => {
    expect(checkSelector(selector)).toEqual(selector)
  })

  it('is read from what the wire carries', () => {
    expect(checkSelector({ allow_all: true })).toEqual({ all: true })
    expect(checkSelector({ allowAll: true })).toEqual({ all: true })
    expect(checkSelector({ dlq_reason: 'skipped', ids: [7] })).toEqual({ reason: 'skipped', ids: ['7'] })
    expect(checkSelector({ since: '2030-01-01T00:00:00Z', until: new Date(0) })).toEqual({
      since: new Date('2030-01-01T00:00:00Z'),
      until: new Date(0),
    })
  })

  it.each([
    [{}],
    [null],
    [undefined],
    [[]],
    ['all'],
    [{ filter: {} }],
    [{ ids: [] }],
    [{ ids: '5' }],
    [{ ids: [''] }],
    [{ ids: [2 ** 53] }],
    [{ ids: [null] }],
    [{ ids: Array.from({ length: 100_001 }, String) }],
    [{ queue: '' }],
    [{ queue: ' ' }],
    [{ queue: 'a\0' }],
    [{ queues: ['\ud800'], all: true }],
    [{ queue: undefined }],
    [{ queue: null }],
    [{ queue: ['a'] }],
    [{ quue: 'billing' }],
    [{ queue: 'billing', knd: 'mail' }],
    [{ state: 'archived' }],
    [{ error: 'timeout' }],
    [{ state: 'archived', error: 'timeout' }],
    [{ state: 'dead', queue: 'billing' }],
    [{ state: 'toString', queue: 'billing' }],
    [{ all: false }],
    [{ all: 'true' }],
    [{ all: 1 }],
    [{ since: 'yesterday' }],
    [{ since: 5 }],
    [{ until: new Date(Number.NaN) }],
    [{ toString: 'x' }],
    [JSON.parse('{"__proto__": {"queue": "billing"}}')],
  ])('%j is refused', (selector) => {
    expect(() => checkSelector(selector)).toThrow(expect.objectContaining({ code: 'selector_refused' }))
  })

  it('says what is missing', () => {
    expect(() => checkSelector({})).toThrow(/the selector is empty; name one of kind, queue/)
    expect(() => checkSelector({ state: 'archived' })).toThrow(/only state, which is not enough/)
    expect(() => checkSelector({ quue: 'x' })).toThrow(/"quue": it is unknown; known are kind, queue/)
  })
})
