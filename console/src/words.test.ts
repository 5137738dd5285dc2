import { describe, expect, it } from 'vitest'
import { counted, durationText, lengthOf, relative, totalText } from './words.js'

describe('words', () => {
  it.each([
    [0, 'now'],
    [-900, 'now'],
    [-61_000, '1 min ago'],
    [-3_599_000, '59 min ago'],
    [-90_000_000, '1 d ago'],
    [7_200_000, 'in 2 h'],
  ])('say of %d ms: %s', (ms, said) => {
    expect(relative(new Date(1e12 + ms), 1e12)).toBe(said)
  })

  it.each([
    [0, '0 s'],
    [250, '250 ms'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [100_000_000, '1 d 3 h'],
    [1_000_000_000, '11 d'],
  ])('say that %d ms are %s', (ms, said) => {
    expect(lengthOf(ms)).toBe(said)
  })

  it.each([
    [0, '0s'],
    [1, '1ms'],
    [90_000, '90s'],
    [5_400_000, '90m'],
    [2_592_000_000, '30d'],
  ])('say %d ms as the API reads them: %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  it('count one as one, and say what they do not know', () => {
    expect(counted(1, 'dead letter')).toBe('1 dead letter')
    expect(counted(1_234, 'dead letter')).toBe('1,234 dead letters')
    expect(totalText({ count: 5_000, estimate: true })).toBe('at most 5,000')
    expect(totalText(undefined)).toBe('number unknown')
  })
})
