import { expect, it } from 'vitest'
import { Pace } from './pace.js'

const MAX = 5_000

/** Looks every 20 ms for a while, with workers that take so many rows between two looks. */
function run(takes: (n: number) => number, looks: number, maxWaiting = MAX) {
  const pace = new Pace(0)
  const added: number[] = []
  let waiting = 0
  for (let look = 0; look < looks; look++) {
    waiting = Math.max(0, waiting - takes(look))
    const rows = pace.room(waiting, maxWaiting, look * 20)
    if (rows > 0) pace.added(rows, 1)
    added.push(rows)
    waiting += rows
  }
  return { added, waiting }
}

it('adds a batch whenever the last one was taken, and never a large one beside workers', () => {
  const { added } = run(() => 1_000, 20)

  expect(added.every((rows) => rows > 0)).toBe(true)
  expect(Math.max(...added)).toBe(50)
})

it('waits until a batch was taken, and makes the next one smaller', () => {
  const { added } = run(() => 8, 100)

  const batches = added.filter((rows) => rows > 0)
  expect(added.filter((rows) => rows === 0).length).toBeGreaterThan(30)
  expect(Math.min(...batches)).toBe(10)
  expect(batches.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThan(500)
})

it('fills up to the limit, and no further, where nobody takes any', () => {
  const { waiting } = run(() => 0, 200)

  expect(waiting).toBe(MAX)
})

it('fills a small limit at once, and adds what was taken of it', () => {
  const pace = new Pace(0)

  expect(pace.room(0, 4, 0)).toBe(4)
  pace.added(4, 1)
  expect(pace.room(4, 4, 20)).toBe(0)
  expect(pace.room(0, 4, 40)).toBe(4)
})

it('goes on beside rows of a queue that nobody serves', () => {
  // Half of what is added stays.
  const pace = new Pace(0)
  let [waiting, stay, sum] = [0, 0, 0]
  for (let look = 0; look < 500; look++) {
    const rows = pace.room(waiting, MAX, look * 20)
    if (rows > 0) pace.added(rows, 1)
    stay += Math.floor(rows / 2)
    sum += rows
    waiting = stay
  }

  expect(sum).toBeGreaterThan(500)
})

it('leaves twice the time that a batch took to what it runs beside', () => {
  expect(new Pace(0).added(50, 40)).toBe(80)
  expect(new Pace(0).added(50, 1)).toBe(20)
})
