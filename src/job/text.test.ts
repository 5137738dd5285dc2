import { describe, expect, it } from 'vitest'
import { clipBytes, isStorable, storable } from './text.js'

describe('text for the store', () => {
  it.each(['', 'plain', 'é', '😀', '👩‍👩‍👧', '\u{10ffff}', '\\u0000'])('keeps %j', (text) => {
    expect(isStorable(text)).toBe(true)
    expect(storable(text)).toBe(text)
  })

  it.each([
    ['a\u0000b', 'a␀b'],
    ['\ud800', '\ufffd'],
    ['\udc00\ud800', '\ufffd\ufffd'],
    ['😀\ud83d', '😀\ufffd'],
  ])('shows what cannot be kept in %j', (text, expected) => {
    expect(isStorable(text)).toBe(false)
    expect(storable(text)).toBe(expected)
  })
})

describe('clipping by bytes', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['é', 1, ''],
    ['aé', 2, 'a'],
    ['a😀', 4, 'a'],
    ['a😀', 5, 'a😀'],
    ['😀😀', 7, '😀'],
    ['x'.repeat(9), 0, ''],
  ])('%j to %i', (text, maxBytes, expected) => {
    expect(clipBytes(text, maxBytes)).toBe(expected)
  })

  it('never makes what cannot be stored', () => {
    const text = 'aé€😀'.repeat(5)
    for (let maxBytes = 0; maxBytes < 60; maxBytes++) {
      const clipped = clipBytes(text, maxBytes)

      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(maxBytes)
      expect(isStorable(clipped)).toBe(true)
      expect(text.startsWith(clipped)).toBe(true)
    }
  })
})
