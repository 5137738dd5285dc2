import { describe, expect, it } from 'vitest'
import { redrive } from './redrive.js'

const now = new Date('2030-01-01T00:00:00Z')
const past = new Date(now.getTime() - 1)
const future = new Date(now.getTime() + 1)
const dead = { attempt: 20, crashAttempt: 2, runLease: 22, maxAttempts: 20, generation: 0, deadline: null }
const options = { budget: 'fresh', maxGenerations: 10 } as const

describe('the budget of a retry', () => {
  it('fresh begins from nothing', () => {
    expect(redrive(dead, options, now)).toEqual({
      ok: true,
      job: { attempt: 0, crashAttempt: 0, chargeBase: 0, runLease: 0, maxAttempts: 20, generation: 1, deadline: null },
    })
  })

  it('keep leaves everything, so that an exhausted job gets one more run', () => {
    expect(redrive(dead, { ...options, budget: 'keep' }, now)).toEqual({
      ok: true,
      job: { ...dead, generation: 1, chargeBase: 22 },
    })
  })

  it('extra adds to the attempts that were used, and forgets the crashes', () => {
    expect(redrive(dead, { ...options, budget: { extra: 3 } }, now)).toMatchObject({
      job: { attempt: 20, crashAttempt: 0, chargeBase: 20, runLease: 22, maxAttempts: 23 },
    })
  })

  it('extra never takes attempts away', () => {
    expect(redrive({ ...dead, attempt: 2 }, { ...options, budget: { extra: 3 } }, now)).toMatchObject({
      job: { maxAttempts: 20 },
    })
  })

  it('follows a new max_attempts', () => {
    expect(redrive(dead, { ...options, maxAttempts: 5 }, now)).toMatchObject({ job: { attempt: 0, maxAttempts: 5 } })
    expect(redrive(dead, { ...options, maxAttempts: 50, budget: { extra: 3 } }, now)).toMatchObject({
      job: { maxAttempts: 50 },
    })
  })
})

describe('a deadline that has passed', () => {
  it.each(['fresh', { extra: 1 }] as const)('is cleared with %j', (budget) => {
    expect(redrive({ ...dead, deadline: past }, { ...options, budget }, now)).toMatchObject({ job: { deadline: null } })
  })

  it('is refused with keep, unless a new one is given', () => {
    const job = { ...dead, deadline: now }

    expect(redrive(job, { ...options, budget: 'keep' }, now)).toMatchObject({ ok: false, code: 'deadline_passed' })
    expect(redrive(job, { ...options, budget: 'keep', deadline: future }, now)).toMatchObject({
      job: { deadline: future },
    })
  })

  it('is refused where it is the new one', () => {
    expect(redrive(dead, { ...options, deadline: past }, now)).toMatchObject({ ok: false, code: 'deadline_passed' })
  })

  it('that has not passed is kept', () => {
    expect(redrive({ ...dead, deadline: future }, options, now)).toMatchObject({ job: { deadline: future } })
  })
})

describe('the cap on generations', () => {
  it('lets the last one in and needs force past it', () => {
    expect(redrive({ ...dead, generation: 9 }, options, now)).toMatchObject({ job: { generation: 10 } })
    expect(redrive({ ...dead, generation: 10 }, options, now)).toMatchObject({ ok: false, code: 'generation_cap' })
    expect(redrive({ ...dead, generation: 10 }, { ...options, force: true }, now)).toMatchObject({
      job: { generation: 11 },
    })
  })
})
