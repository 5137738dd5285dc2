import { expect, it } from 'vitest'
import type { Queue, Worker } from '../../api.js'
import { filled, queuesWithoutWorker, verdictOf } from './bleeding.js'

const NOW = Date.parse('2030-01-01T12:00:30Z')
const MINUTE = 60_000
const flow = (minutesAgo: number, arrived: number, departed: number) => ({
  ...{ at: new Date(Math.floor(NOW / MINUTE) * MINUTE - minutesAgo * MINUTE), arrived, departed },
  ...{ arrivedBy: {}, departedBy: {} },
})

it('has a place for each minute, also those in which nothing happened', () => {
  const { times, arrived, departed } = filled([flow(0, 3, 1), flow(2, 5, 0)], MINUTE, 4, NOW)

  expect(times.map((at) => at.toISOString().slice(14, 16))).toEqual(['57', '58', '59', '00'])
  expect(arrived).toEqual([0, 5, 0, 3])
  expect(departed).toEqual([0, 0, 0, 1])
})

it.each([
  ['Bleeding', [flow(1, 9, 2)]],
  ['Grew in the last hour', [flow(40, 9, 2)]],
  ['Arrivals are dealt with', [flow(1, 4, 0), flow(0, 0, 4)]],
  ['Nothing is bleeding', [flow(50, 9, 9)]],
  ['Nothing is bleeding', []],
])('says %s', (word, items) => {
  expect(verdictOf(filled(items, MINUTE, 60, NOW)).word).toBe(word)
})

it('misses a worker where jobs wait, and nobody who is heard takes them', () => {
  const queue = (name: string, available: number, pausedAt: Date | null = null) =>
    ({ queue: name, counts: { available }, pausedAt }) as unknown as Queue
  const worker = (queues: string[], secondsAgo: number) =>
    ({ queues, heartbeatAt: new Date(NOW - secondsAgo * 1_000) }) as unknown as Worker
  const queues = [
    queue('served', 5),
    queue('silent', 5),
    queue('nobody', 5),
    queue('empty', 0),
    queue('paused', 5, new Date()),
  ]

  const missing = queuesWithoutWorker(queues, [worker(['served'], 2), worker(['silent'], 300)], NOW)

  expect(missing.map((it) => it.queue)).toEqual(['silent', 'nobody'])
})
