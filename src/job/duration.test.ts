import { describe, expect, it } from 'vitest'
import { parseDuration } from './duration.js'

describe('a duration', () => {
  it.each([
    [250, 250],
    [0.5, 1],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
  ])('%s is %i ms', (value, expected) => {
    expect(parseDuration(value, 'timeout')).toBe(expected)
  })

  it.each([
    0,
    -1,
    0.4,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e15,
    '',
    '0s',
    '0.1ms',
    '5',
    '5 m',
    '-5m',
    '5w',
    'm',
    '5m!',
    '1e3s',
    `${'9'.repeat(15)}d`,
    null,
    undefined,
    {},
    5n,
    true,
  ])('%s is refused, by the name of the option', (value) => {
    expect(() => parseDuration(value as number, 'timeout')).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(/^cannot use .* as timeout: /),
      }),
    )
  })
})
