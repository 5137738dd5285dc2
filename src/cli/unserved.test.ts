import { expect, it } from 'vitest'
import type { Operation, RegisteredWorker } from '../store/store.js'
import { Unserved } from './unserved.js'

const holding = { action: 'retry', state: 'running', phase: 'canary', rate: null, succeeded: 3 } as Operation
const live = { state: 'running', queues: ['billing'], heartbeatAt: new Date() } as unknown as RegisteredWorker
const silent = { ...live, heartbeatAt: new Date(Date.now() - 60_000) }

it.each<[string, Partial<Operation>, RegisteredWorker[], boolean]>([
  ['canaries wait and nobody works', {}, [], true],
  ['enough of its jobs wait and nobody works', { phase: 'moving' }, [], true],
  ['the only worker was killed', {}, [silent], true],
  ['the only worker is stopping', {}, [{ ...live, state: 'stopping' }], true],
  ['the only worker takes from other queues', {}, [{ ...live, queues: ['mail'] }], true],
  ['a worker takes from the queue', {}, [live], false],
  ['it is slow because it was told to be', { phase: 'moving', rate: 0.1 }, [], false],
  ['it still counts', { phase: 'counting' }, [], false],
  ['it is no retry', { action: 'purge', phase: 'moving' }, [], false],
])('when %s (%#)', async (_, difference, workers, isUnserved) => {
  expect(await toldWithin(11_000, workers, () => ({ ...holding, ...difference }))).toBe(isUnserved)
})

it('tells only after ten seconds, and not while rows move', async () => {
  let succeeded = 0

  expect(await toldWithin(9_000, [], () => holding)).toBe(false)
  expect(await toldWithin(11_000, [], () => ({ ...holding, phase: 'moving', succeeded: succeeded++ }))).toBe(false)
})

/** Whether it was told of in so many ms, by a clock of its own with a step every 250 ms. */
async function toldWithin(ms: number, workers: RegisteredWorker[], operation: () => Operation): Promise<boolean> {
  let now = 0
  let isTold = false
  const around = { workers: async () => workers, waitingQueues: async () => [] }
  const onUnserved = () => {
    isTold = true
  }
  const unserved = new Unserved(around, 'billing', onUnserved, () => now)
  for (; now <= ms; now += 250) {
    unserved.update(operation())
    await Promise.resolve().then(() => Promise.resolve())
  }
  return isTold
}
