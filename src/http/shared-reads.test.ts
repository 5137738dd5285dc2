import { expect, it } from 'vitest'
import { SharedReads } from './shared-reads.js'

it('asks once for everybody who asks at the same time, and again after a change', async () => {
  const reads = new SharedReads(60_000)
  let asked = 0
  const ask = () => reads.once('depth', async () => ++asked)

  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1])
  expect(await ask()).toBe(1)
  reads.clear()

  expect(await ask()).toBe(2)
})

it('does not keep what failed', async () => {
  const reads = new SharedReads(60_000)

  await expect(reads.once('x', () => Promise.reject(new Error('away')))).rejects.toThrow('away')

  expect(await reads.once('x', async () => 'there')).toBe('there')
})

it('keeps nothing where nothing may be old', async () => {
  const reads = new SharedReads(0)
  let asked = 0
  const ask = () => reads.once('depth', async () => ++asked)

  expect([await ask(), await ask()]).toEqual([1, 2])
})
