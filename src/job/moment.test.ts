import { expect, it } from 'vitest'
import { isMoment } from './moment.js'

it.each([
  ['0001-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['0000-12-31T23:59:59.999Z', false],
  ['9999-12-31T23:59:59-00:01', false],
  ['-000001-01-01T00:00:00Z', false],
  ['yesterday', false],
])('%s is a moment: %s', (text, isOne) => {
  expect(isMoment(new Date(text))).toBe(isOne)
})

it('is no text, and no number', () => {
  for (const value of ['2030-01-01T00:00:00Z', 0, null, undefined]) expect(isMoment(value)).toBe(false)
})
