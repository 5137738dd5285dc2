import { expect, it } from 'vitest'
import type { Duty } from '../../api.js'
import { standingOf } from './duty-standing.js'

const NOW = Date.parse('2030-01-01T12:00:00Z')
const ago = (minutes: number) => new Date(NOW - minutes * 60_000)
const duty = (it: Partial<Duty>): Duty =>
  ({ duty: 'promote', pausedAt: null, failures: 0, lastSuccessAt: ago(5), ...it }) as Duty

it.each([
  ['Well', {}],
  ['Late', { lastSuccessAt: ago(31) }],
  ['Failing', { failures: 2, lastSuccessAt: ago(31) }],
  ['Paused', { pausedAt: ago(1), failures: 2 }],
  ['Not yet run', { lastSuccessAt: null }],
])('says %s', (word, it) => {
  expect(standingOf(duty(it), NOW).word).toBe(word)
})
