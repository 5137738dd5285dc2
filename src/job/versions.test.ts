import { describe, expect, it } from 'vitest'
import { servedVersions, upcast } from './versions.js'

const definition = {
  version: 3,
  upcast: { 1: (v: { a: number }) => ({ b: v.a + 1 }), 2: (v: { b: number }) => ({ c: v.b * 10 }) },
}

describe('served versions', () => {
  it.each([
    [definition, [1, 2, 3]],
    [{ version: 3, upcast: { 2: (v: unknown) => v } }, [2, 3]],
    [{ version: 3, upcast: { 1: (v: unknown) => v } }, [3]],
    [{ version: 1, upcast: {} }, [1]],
  ])('are its own and those a chain leads from (%#)', (given, expected) => {
    expect(servedVersions(given)).toEqual(expected)
  })
})

describe('upcasting', () => {
  it('goes one version after the other', () => {
    expect(upcast(definition, 1, { a: 1 })).toEqual({ ok: true, value: { c: 20 } })
    expect(upcast(definition, 2, { b: 1 })).toEqual({ ok: true, value: { c: 10 } })
    expect(upcast(definition, 3, { c: 1 })).toEqual({ ok: true, value: { c: 1 } })
  })

  it.each([
    ['newer than the code', definition, 4, /version 4, and this code knows 3/],
    ['without a step', definition, 0, /no upcast from version 0 to 1/],
    [
      'whose step throws',
      { version: 2, upcast: { 1: (v: { a: { b: 1 } }) => v.a.b } },
      1,
      /from version 1 to 2 threw: .*undefined/,
    ],
    ['whose step is async', { version: 2, upcast: { 1: () => Promise.reject(new Error('x')) } }, 1, /async/],
  ])('answers for a payload %s', (_, given, from, message) => {
    expect(upcast(given, from, {})).toEqual({ ok: false, message: expect.stringMatching(message) })
  })
})
