import { describe, expect, it } from 'vitest'
import { askBackoff, crashBackoffMs, defaultBackoffMs, MAX_DELAY_MS, resolveDelay } from './backoff.js'

describe('the default backoff', () => {
  it.each([
    [0, 15_000],
    [1, 30_000],
    [2, 60_000],
    [7, 1_920_000],
    [8, 3_600_000],
    [10_000, 3_600_000],
  ])('after %i earlier failures is about %i ms', (attempt, expected) => {
    expect(defaultBackoffMs(attempt, 0.5)).toBe(expected)
    expect(defaultBackoffMs(attempt, 0)).toBe(expected * 0.9)
    expect(defaultBackoffMs(attempt, 0.999)).toBeLessThanOrEqual(expected * 1.1)
  })

  it.each([
    [0, 5000],
    [1, 10_000],
    [9, 2_560_000],
    [10, 3_600_000],
    [5000, 3_600_000],
  ])('after %i earlier crashes is %i ms', (crashes, expected) => {
    expect(crashBackoffMs(crashes)).toBe(expected)
  })
})

describe("a user's own delay", () => {
  it.each([0, 1, 5000, MAX_DELAY_MS])('of %i ms is kept, without a word', (value) => {
    expect(resolveDelay(value, 7)).toEqual({ delayMs: value, note: null })
  })

  it('is rounded to whole ms', () => {
    expect(resolveDelay(1.6, 7)).toEqual({ delayMs: 2, note: null })
  })

  it.each([
    [Number.POSITIVE_INFINITY, MAX_DELAY_MS],
    [1e15, MAX_DELAY_MS],
    [-5, 0],
    [Number.NEGATIVE_INFINITY, 0],
    [Number.NaN, 7],
    ['3', 7],
    [undefined, 7],
    [null, 7],
    [10n, 7],
    [Promise.resolve(5), 7],
    [Symbol(), 7],
  ])('of %s becomes %i ms, and the note says so', (value, expected) => {
    expect(resolveDelay(value, 7)).toEqual({ delayMs: expected, note: expect.stringMatching(/^backoff returned /) })
  })

  it('is the fallback where the function throws', () => {
    const thrower = () => {
      throw new Error('no')
    }

    expect(askBackoff(thrower, 3, undefined, 7)).toEqual({ delayMs: 7, note: expect.stringMatching(/^backoff threw/) })
  })

  it('is asked with the failures before this one and what was thrown', () => {
    expect(askBackoff((attempt, error) => attempt * Number(error), 3, 100, 7).delayMs).toBe(300)
  })

  it('of a function that answers with a promise is the fallback, and its rejection nobody’s concern', async () => {
    const slow = (async () => {
      throw new Error('no')
    }) as unknown as () => number

    expect(askBackoff(slow, 0, undefined, 7)).toEqual({ delayMs: 7, note: expect.any(String) })
    await new Promise((resolve) => setImmediate(resolve)) // an unhandled rejection would fail the run here
  })
})
