import { expect, it } from 'vitest'
import type { DEFAULT_POLICY } from '../../src/job/policy.js'
import { type JobState, LIVE_STATES, STATES } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'

const HOUR = 3_600_000
const act = { actor: 'ann' }

type Ends = Exclude<JobState, (typeof LIVE_STATES)[number]>
type Key = keyof typeof DEFAULT_POLICY.retention

/** Hours a job that ended stays, as semantics has it: by the default, a rule of its queue, one of its own. Null: for good. */
const STAYS: Readonly<Record<Ends, { key: Key; standard: number | null; queue: number; own: number }>> = {
  completed: { key: 'completed', standard: 24, queue: 5, own: 50 },
  failed: { key: 'failed', standard: 72, queue: 8, own: 90 },
  cancelled: { key: 'cancelled', standard: 24, queue: 30, own: 11 },
  archived: { key: 'dlq', standard: 720, queue: 2_160, own: 14 },
  discarded: { key: 'bin', standard: 168, queue: 36, own: 200 },
  quarantined: { key: 'held', standard: null, queue: 40, own: 800 },
  undecodable: { key: 'held', standard: null, queue: 40, own: 17 },
}
const ENDS = Object.keys(STAYS) as Ends[]

/** Every rule there is, and for each the rule beside it that must not be taken for it. */
const RULES = ENDS.flatMap((state) => {
  const { key, standard, queue, own } = STAYS[state]
  return [
    { name: `${state}: the default`, state, in: 'plain', hours: standard },
    { name: `${state}: of its queue`, state, in: 'ruled', hours: queue },
    { name: `${state}: its own`, state, in: 'ruled', retention: { [key]: own * HOUR }, hours: own },
    {
      name: `${state}: its own, of a queue that keeps for good`,
      state,
      in: 'kept',
      retention: { [key]: own * HOUR },
      hours: own,
    },
    { name: `${state}: of a queue that keeps for good`, state, in: 'kept', hours: null },
  ]
})
type Rule = (typeof RULES)[number]

describeStore('retention on a clock that is moved', ({ store, given, db, clock }) => {
  const policies = async () => {
    const of = (hours: (state: Ends) => number | null) =>
      Object.fromEntries(ENDS.map((state) => [STAYS[state].key, toMs(hours(state))]))
    await store.setQueue('ruled', { retention: of((state) => STAYS[state].queue) }, act)
    await store.setQueue('kept', { retention: of(() => null) }, act)
  }
  const make = async ({ state, in: queue, retention }: Rule) =>
    (await given.job({ state, queue, ...(retention && { retention: retention as Record<string, number> }) })).id
  const isThere = async (id: string) => (await store.getJob(id)) !== undefined
  const sweep = async () => {
    // Three passes: one that begins anew each time must not find other rows than the first.
    for (let pass = 0; pass < 3; pass++) await store.retain(1_000)
  }
  const deleted = async () =>
    (await db.run(sql<[], [string | null]>`select sum(n) from spillway.counters where what = 'expired'`, []))[0]?.[0]

  it('has a rule for every state of a job that is not live, and no other', () => {
    const ending = Object.keys(STATES).filter((state) => !LIVE_STATES.some((live) => live === state))

    expect([...ENDS].sort()).toEqual(ending.sort())
  })

  it.each(RULES)('$name applies alone: not an hour early, not an hour late', async (rule) => {
    await policies()
    const id = await make(rule)
    const hours = rule.hours ?? 10 * 365 * 24

    await clock.advance((hours - 1) * HOUR)
    await sweep()
    const before = await isThere(id)
    await clock.advance(2 * HOUR)
    await sweep()

    expect([before, await isThere(id)]).toEqual([true, rule.hours === null])
    expect(await deleted()).toBe(rule.hours === null ? null : '1')
  })

  it('all of them apply together, each to its own', async () => {
    await policies()
    const jobs = await Promise.all(RULES.map(async (rule) => ({ ...rule, id: await make(rule) })))
    const moments = [...new Set(RULES.flatMap(({ hours }) => hours ?? []))].sort((a, b) => a - b)

    let passed = 0
    for (const hours of moments) {
      for (const at of [hours - 0.5, hours + 0.5]) {
        await clock.advance((at - passed) * HOUR)
        passed = at
        await sweep()

        const there = await Promise.all(jobs.map(async ({ id, name }) => ((await isThere(id)) ? [name] : [])))
        const due = jobs.filter((job) => job.hours === null || job.hours > at).map(({ name }) => name)
        expect([at, there.flat()]).toEqual([at, due])
      }
    }
  })
})

function toMs(hours: number | null): number | null {
  return hours === null ? null : hours * HOUR
}
