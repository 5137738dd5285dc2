import { describe, expect, it } from 'vitest'
import { signal, until } from '../testing/signals.js'
import { Duty } from './duty.js'

describe('a duty', () => {
  it('goes on at the time its last pass named, and at once when it is woken', async () => {
    const passed = signal<number>()
    let passes = 0
    const duty = make({
      pass: async () => {
        passed.fire(++passes)
        return passes < 3 ? 1 : Number.POSITIVE_INFINITY
      },
    })

    duty.start()

    expect([await passed.next(), await passed.next(), await passed.next()]).toEqual([1, 2, 3])
    expect(duty.nextInMs).toBe(Number.POSITIVE_INFINITY)
    duty.wake()
    expect(await passed.next()).toBe(4)
    await duty.stop()
  })

  it('never runs two passes side by side, and looks again when it was woken during one', async () => {
    const begun = signal()
    const gate = signal()
    let inside = 0
    let most = 0
    let passes = 0
    const duty = make({
      pass: async () => {
        most = Math.max(most, ++inside)
        begun.fire()
        passes++
        await gate.next()
        inside--
        return Number.POSITIVE_INFINITY
      },
    })
    duty.start()
    await begun.next()

    duty.wake()
    await until(() => duty.nextInMs === Number.POSITIVE_INFINITY, { what: 'the planned pass to come up' })
    gate.fire()
    await begun.next()
    gate.fire()
    await duty.stop()

    expect({ passes, most }).toEqual({ passes: 2, most: 1 })
  })

  it('survives what a pass and its report throw, and tries again', async () => {
    const passed = signal()
    const told: (string | null)[] = []
    let passes = 0
    const duty = make({
      pass: async () => {
        passed.fire()
        if (++passes === 1) throw new Error('the first pass')
        return Number.POSITIVE_INFINITY
      },
      onPass: (error) => {
        told.push(error?.message ?? null)
        return Promise.reject(new Error('the report'))
      },
    })
    duty.start()
    await passed.next()

    await passed.next()
    await duty.stop()

    expect(told).toEqual(['the first pass', null])
  })

  it('sleeps while it may not run, and begins when it is woken', async () => {
    const passed = signal()
    let may = false
    const duty = make({
      mayRun: () => may,
      pass: async () => {
        passed.fire()
        return Number.POSITIVE_INFINITY
      },
    })
    duty.start()
    await expect(passed.next({ within: 50 })).rejects.toThrow('did not come')

    may = true
    duty.wake()

    await passed.next()
    await duty.stop()
  })

  it('rests between two passes however often it is woken', async () => {
    const passed = signal<number>()
    const duty = make({
      restMs: 60,
      pass: async () => {
        passed.fire(performance.now())
        return Number.POSITIVE_INFINITY
      },
    })
    duty.start()
    const first = await passed.next()

    for (let n = 0; n < 10; n++) duty.wake()
    const second = await passed.next()
    await duty.stop()

    expect(second - first).toBeGreaterThanOrEqual(59)
    expect(passed.count).toBe(2)
  })

  it('can be stopped twice, before its start, and stays stopped', async () => {
    const passed = signal()
    const duty = make({
      pass: async () => {
        passed.fire()
        return 0
      },
    })

    await duty.stop()
    await duty.stop()
    duty.start()
    duty.wake()

    await expect(passed.next({ within: 30 })).rejects.toThrow('did not come')
  })

  it('gives what a pass threw to whoever asked for one', async () => {
    const duty = make({ pass: () => Promise.reject(new Error('no')) })

    await expect(duty.runOnce()).rejects.toThrow('no')
  })
})

function make(options: Partial<ConstructorParameters<typeof Duty>[0]>): Duty {
  return new Duty({
    name: 'test',
    restMs: 0,
    mayRun: () => true,
    pass: async () => Number.POSITIVE_INFINITY,
    onPass: () => undefined,
    ...options,
  })
}
