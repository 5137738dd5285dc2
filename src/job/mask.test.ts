import { describe, expect, it } from 'vitest'
import { checkMaskPath, MASK, masker } from './mask.js'

const M = MASK

describe('hiding', () => {
  it.each([
    [[], { password: 'x', Password: 'y', userPassword: 'z' }, { password: M, Password: M, userPassword: M }],
    [[], { apiKey: 1, API_KEY: 2, 'api-key': 3, monkey: 4 }, { apiKey: M, API_KEY: M, 'api-key': M, monkey: 4 }],
    [[], { access_token: 'a', tokens: 3, tokenizer: 'b' }, { access_token: M, tokens: 3, tokenizer: 'b' }],
    [[], { token: null }, { token: null }],
    [['a.b'], { a: { b: 1, c: 2 }, b: 3 }, { a: { b: M, c: 2 }, b: 3 }],
    [['a.*.c'], { a: { x: { c: 1 }, y: { d: 2 } } }, { a: { x: { c: M }, y: { d: 2 } } }],
    [['a.*'], { a: [1, 2] }, { a: [M, M] }],
    [['a.1'], { a: [1, 2] }, { a: [1, M] }],
    [['**.z'], { z: 1, a: { z: 2, b: [{ z: 3 }] } }, { z: M, a: { z: M, b: [{ z: M }] } }],
    [['**.a.b'], { a: { a: { b: 1 } } }, { a: { a: { b: M } } }],
    [['a'], 'text', 'text'],
    [['a'], { b: 12345678901234567890n }, { b: 12345678901234567890n }],
  ])('%o in %o', (paths, value, shown) => {
    expect(masker(paths).mask(value)).toEqual(shown)
  })

  it('leaves the value itself alone', () => {
    const value = { password: 'x', list: [{ secret: 1 }] }

    masker([]).mask(value)

    expect(value).toEqual({ password: 'x', list: [{ secret: 1 }] })
  })

  it('makes an own property of every key', () => {
    const value = JSON.parse('{"__proto__":{"password":"x"}}') as object

    expect(JSON.stringify(masker([]).mask(value))).toBe(`{"__proto__":{"password":"${M}"}}`)
  })
})

describe('taking back what was shown', () => {
  const { mask, restore } = masker(['card.number'])
  const stored = {
    card: { number: 1, holder: 'ann' },
    note: 'key sk_live_abcdefgh12345678',
    list: [{ secret: 1 }, { secret: 2 }],
  }

  it('keeps what is stored under every mask', () => {
    expect(restore(mask(stored), stored)).toEqual(stored)
  })

  it('takes what was changed', () => {
    const sent = { ...(mask(stored) as typeof stored), note: 'none', extra: [1] }

    expect(restore(sent, stored)).toEqual({ ...stored, note: 'none', extra: [1] })
  })

  it('has nothing to keep where nothing was stored', () => {
    expect(restore({ card: { number: M } }, {})).toEqual({ card: { number: M } })
    expect(restore(M, { a: 1 })).toBe(M)
  })
})

it.each(['', '.', 'a.', '.a', 'a..b', 'a.**', '**', 'a*b', 'x.'.repeat(30), 'a\0', 7, null])(
  '%j is no path',
  (path) => {
    expect(() => checkMaskPath(path)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  },
)
