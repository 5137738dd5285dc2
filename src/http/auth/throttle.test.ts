import { expect, it } from 'vitest'
import { Throttle } from './throttle.js'

it('lets an address try so many times, and again when the time is over', () => {
  let now = 0
  const throttle = new Throttle(3, 60_000, () => now)
  const fail = () => throttle.failed('a')

  fail()
  fail()
  expect(throttle.waitFor('a')).toBe(0)
  fail()
  now = 20_000

  expect(throttle.waitFor('a')).toBe(40)
  expect(throttle.waitFor('b')).toBe(0)
  now = 61_000
  expect(throttle.waitFor('a')).toBe(0)
  fail()
  expect(throttle.waitFor('a')).toBe(0)
})

it('remembers a bounded number of addresses', () => {
  const throttle = new Throttle(1, 60_000, () => 0)

  for (let n = 0; n < 20_000; n++) throttle.failed(`10.${n}`)

  expect(throttle.waitFor('10.0')).toBe(0)
  expect(throttle.waitFor('10.19999')).toBe(60)
})
