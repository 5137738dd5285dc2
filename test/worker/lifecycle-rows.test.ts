import { type Job, type JobState, Spillway } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { LIFECYCLE, next, type Transition } from '../../src/job/lifecycle.js'
import { ATTEMPTS, FAILURES } from '../support/lifecycle/attempts.js'
import { CALLBACKS } from '../support/lifecycle/callbacks.js'
import { expectCounters } from '../support/lifecycle/counters.js'
import { OPERATORS } from '../support/lifecycle/operators.js'
import { QUARANTINE } from '../support/lifecycle/quarantine.js'
import { type Scenario, type World, worldOf } from '../support/lifecycle/world.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const SCENARIOS: Readonly<Record<string, Scenario>> = { ...ATTEMPTS, ...CALLBACKS, ...OPERATORS, ...QUARANTINE }

/** Rows that nothing brings about yet. This list only ever gets shorter. */
const PENDING_ROWS: readonly string[] = []

/** States of a row whose other states work already: `from event`. This list only ever gets shorter, too. */
const PENDING_STATES: readonly string[] = []

const nameOf = ({ from, event }: Transition) => `${from[0] ?? 'new'} ${event}`
const rows: readonly Transition[] = LIFECYCLE
const arrows = rows
  .filter((row) => SCENARIOS[nameOf(row)] !== undefined)
  .flatMap((row) => (row.from.length === 0 ? [null] : row.from).map((from) => ({ row, from })))
const isPending = ({ row, from }: (typeof arrows)[number]) => PENDING_STATES.includes(`${from} ${row.event}`)

describe('the table of transitions', () => {
  it('has a scenario for every row, but for those that are pending', () => {
    const without = rows.map(nameOf).filter((name) => SCENARIOS[name] === undefined)

    expect(without.sort()).toEqual([...PENDING_ROWS].sort())
  })

  it('has a row for every scenario, and for every state that is pending', () => {
    const names = rows.map(nameOf)
    const states = rows.flatMap(({ from, event }) => from.map((state) => `${state} ${event}`))

    expect(Object.keys(SCENARIOS).filter((name) => !names.includes(name))).toEqual([])
    expect(PENDING_STATES.filter((name) => !states.includes(name))).toEqual([])
  })

  it('does not leave more to be done than it did', () => {
    expect(PENDING_ROWS).toEqual([])
    expect(PENDING_STATES).toEqual([])
  })
})

describeStore('a real worker and a real store', ({ given, db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  const walk = async ({ row, from }: (typeof arrows)[number]) => {
    const world = worldOf(spillway, given, db, 'default')
    const { id, before } = await (SCENARIOS[nameOf(row)] as Scenario)(world, from)
    const target = next(from, row.event as Parameters<typeof next>[1])
    const after = await world.reaches(id, target === 'origin' ? (before as Job).state : (target as JobState | 'gone'))
    expectCounters(row, before, after)
    const { items } = await spillway.events.list({ types: ['died'] })
    expect(items.filter(({ jobId }) => jobId === id)).toHaveLength(isDeath(row) ? 1 : 0)
  }

  it.each(
    arrows
      .filter((arrow) => !isPending(arrow))
      .map((arrow) => [arrow.row.event, arrow.from ?? 'nothing', arrow] as const),
  )('bring about %s from %s', (_, __, arrow) => walk(arrow))

  // One that begins to pass fails here: take it off the list.
  it.fails.each(arrows.filter(isPending).map((arrow) => [arrow.row.event, arrow.from, arrow] as const))(
    'do not bring about %s from %s yet',
    (_, __, arrow) => walk(arrow),
  )

  it.each(Object.entries(FAILURES))('charge an attempt for %s', async (_, run) => {
    const world = worldOf(spillway, given, db, 'default')
    const job = await world.job({ attempt: 1, maxAttempts: 3 })

    await world.work(run)

    expect(await world.reaches(job.id, 'retryable')).toMatchObject({ attempt: 2, crashAttempt: 0 })
  })
})

describeStore('a queue without a dead-letter queue', ({ given, db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const dying = arrows.filter(({ row: { to, event }, from }) => to === 'archived' && from !== null && event !== 'move')

  const dies = async ({ row, from }: (typeof arrows)[number], queue: string) => {
    const world: World = worldOf(spillway, given, db, queue)
    const { id } = await (SCENARIOS[nameOf(row)] as Scenario)(world, from)
    await until(async () => ['failed', 'archived'].includes((await spillway.jobs.get(id))?.state ?? ''))
    return (await spillway.jobs.get(id)) as Job
  }

  it.each(dying.map((arrow) => [arrow.row.event, arrow.from, arrow] as const))(
    'reads failed at %s from %s, for the same reason, and move brings it over',
    async (_, __, arrow) => {
      await spillway.queues.set('plain', { dlqEnabled: false })
      const dead = await dies(arrow, 'default')

      const failed = await dies(arrow, 'plain')
      await spillway.dlq.move(failed.id, { reason: 'to be looked at' })

      expect([dead.state, failed.state]).toEqual(['archived', 'failed'])
      expect(failed).toMatchObject({ reason: dead.dlq?.reason, attempt: dead.attempt, dlq: null })
      expect(await spillway.dlq.get(failed.id)).toMatchObject({
        dlq: { reason: 'to be looked at', cause: dead.dlq?.cause },
        attempt: dead.attempt,
      })
    },
  )
})

/** Whoever comes back from elsewhere has died before. */
function isDeath({ to, event }: Transition): boolean {
  return to === 'archived' && event !== 'import' && event !== 'restore'
}
