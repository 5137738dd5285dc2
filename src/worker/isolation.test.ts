import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClaimedJob, WorkerSession } from '../store/store.js'
import { Isolation } from './isolation.js'

interface Scene {
  /** Jobs the worker runs; 0 is empty. */
  running: number
  taking: boolean
  suspects: string[]
  untilItEnds: boolean
  mayTake: boolean
  readonly log: string[]
}

function scene(part: Partial<Scene> = {}) {
  const state: Scene = {
    running: 0,
    taking: true,
    suspects: ['a'],
    untilItEnds: false,
    mayTake: true,
    log: [],
    ...part,
  }
  const session = {
    get hasSuspects() {
      return state.suspects.length > 0
    },
    takeTurn: async () => (state.suspects.length === 0 ? 'none' : state.mayTake ? 'ours' : 'theirs'),
    leaveTurn: async () => void state.log.push('leave'),
    claimSuspect: async () => {
      const id = state.suspects.shift()
      return id === undefined ? undefined : ({ id } as ClaimedJob)
    },
    isAloneToTheEnd: () => state.untilItEnds,
  } as unknown as WorkerSession
  const isolation = new Isolation({
    queues: () => ['default'],
    isEmpty: () => state.running === 0,
    isTaking: () => state.taking,
    begin: (job) => {
      state.running++
      state.log.push(`begin ${job.id}`)
    },
    resume: () => void state.log.push('resume'),
    report: (error) => void state.log.push(String(error)),
  })
  /** A job ends, and everything is written. */
  const end = async () => {
    state.running--
    isolation.step()
    await vi.advanceTimersByTimeAsync(0)
  }
  const look = async () => {
    await isolation.look(session)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { state, isolation, end, look }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('running a suspect alone', () => {
  it('claims nothing until the worker is empty, then one', async () => {
    const { state, isolation, end, look } = scene({ running: 2 })

    await look()
    const held = isolation.holds
    await end()
    const before = [...state.log]
    await end()

    expect(held).toBe(true)
    expect(before).toEqual([])
    expect(state.log).toEqual(['begin a'])
    expect(isolation.holds).toBe(true)
  })

  it('lets others follow when it has lived for ten seconds', async () => {
    const { state, isolation, look } = scene()

    await look()
    await vi.advanceTimersByTimeAsync(9_999)
    const before = isolation.holds
    await vi.advanceTimersByTimeAsync(1)

    expect(before).toBe(true)
    expect(isolation.holds).toBe(false)
    expect(state.log).toEqual(['begin a', 'leave', 'resume'])
  })

  it('lets others follow only when it has ended, where one more crash convicts it', async () => {
    const { state, isolation, end, look } = scene({ untilItEnds: true })

    await look()
    await vi.advanceTimersByTimeAsync(3_600_000)
    const before = isolation.holds
    await end()

    expect(before).toBe(true)
    expect(isolation.holds).toBe(false)
    expect(state.log).toEqual(['begin a', 'leave', 'resume'])
  })

  it('takes one after the other for a second, then gives others as long, then goes on', async () => {
    const { state, end, look } = scene({ suspects: ['a', 'b', 'c'] })

    await look()
    await end()
    await vi.advanceTimersByTimeAsync(1_100)
    await end()
    const before = [...state.log]
    state.running = 5
    await vi.advanceTimersByTimeAsync(999)
    state.running = 0
    const resting = [...state.log]
    await vi.advanceTimersByTimeAsync(1)

    expect(before).toEqual(['begin a', 'begin b', 'leave', 'resume'])
    expect(resting).toEqual(before)
    expect(state.log).toEqual([...before, 'begin c'])
  })

  it('goes on soon where there are no others', async () => {
    const { state, end, look } = scene({ suspects: ['a', 'b'] })

    await look()
    await vi.advanceTimersByTimeAsync(1_100)
    await end()
    await vi.advanceTimersByTimeAsync(50)

    expect(state.log).toEqual(['begin a', 'leave', 'resume', 'begin b'])
  })

  it('looks again soon where another worker has the turn', async () => {
    const { state, isolation, look } = scene({ mayTake: false })

    await look()
    const before = isolation.isBusy
    state.mayTake = true
    await vi.advanceTimersByTimeAsync(250)

    expect(before).toBe(false)
    expect(state.log).toEqual(['begin a'])
  })

  it('gives the turn up when the worker does not become empty, and waits longer the next time', async () => {
    const { state, isolation, look } = scene({ running: 1 })

    await look()
    await vi.advanceTimersByTimeAsync(30_000)
    const first = isolation.holds
    // It rests before it tries again.
    await look()
    const resting = isolation.holds
    await vi.advanceTimersByTimeAsync(60_000)
    const second = isolation.holds
    await vi.advanceTimersByTimeAsync(59_000)
    const patient = isolation.holds

    expect([first, resting, second, patient]).toEqual([false, false, true, true])
    expect(state.log).toEqual(['leave', 'resume'])
  })

  it('does not begin while another worker has the turn, nothing is suspected, or it stops', async () => {
    for (const part of [{ mayTake: false }, { suspects: [] }, { taking: false }]) {
      const { state, isolation, look } = scene(part)

      await look()

      expect(isolation.isBusy).toBe(false)
      expect(state.log).toEqual([])
    }
  })

  it('leaves the turn when the suspect has gone meanwhile', async () => {
    const { state, isolation, end, look } = scene({ running: 1 })

    await look()
    state.suspects = []
    await end()

    expect(isolation.isBusy).toBe(false)
    expect(state.log).toEqual(['leave', 'resume'])
  })
})
