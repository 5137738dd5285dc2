import { until } from 'spillway/testing'
import { expect, it } from 'vitest'
import { eventQueries } from '../../src/store/postgres/queries/events.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { ClaimedJob, EventFilter, LoggedEvent, WorkerSession } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { workerInfo } from '../support/worker-info.js'
import { listenFor, lockWaits } from './heard.js'

const act = { actor: 'ann' }

describeStore('the event log', ({ store, given, db, clock, schema, url, inTransaction }) => {
  const { sequence } = eventQueries(schema)
  const write = sql<[job: string, type: string], []>`
    insert into spillway.event_outbox (type, job_id, queue, kind, generation, reason, cause, message)
    values ($2, $1, 'billing', 'charge', 0, 'skipped', 'c', 'no')`

  /** How many blocks the sequencer reads for one pass between two looks from the beginning. */
  const blocksRead = sql<
    [],
    [plan: string]
  >`explain (analyze, buffers, format json) select spillway.sequence_events(1000)`
  const lookAgainIn = sql<[seconds: number], []>`
    update spillway.event_head set outbox_look_at = now() + $1 * interval '1 second'`

  const happen = async (job: string, type = 'died') => void (await db.run(write, [job, type]))
  const start = async () => (await store.eventHead()).position
  const behind = async (after: string, filter: EventFilter = {}): Promise<LoggedEvent[]> => {
    const events: LoggedEvent[] = []
    for (let position = after; ; ) {
      const batch = await store.readEvents(filter, position, 100)
      events.push(...batch.events)
      position = batch.position
      if (batch.isEnd) return events
    }
  }
  const jobsOf = (events: readonly LoggedEvent[]) => events.map(({ jobId }) => jobId)

  it('gives positions without gaps to what was committed, and none to what was rolled back', async () => {
    const before = await start()
    await happen('1')
    await inTransaction(async (tx) => {
      await tx.run(write, ['2', 'died'])
      throw new Error('rolled back')
    }).catch(() => undefined)
    await happen('3')

    const moved = [await store.sequenceEvents(100), await store.sequenceEvents(100)]

    expect(moved).toEqual([2, 0])
    const events = await behind(before)
    expect(jobsOf(events)).toEqual(['1', '3'])
    expect(events.map(({ position }) => BigInt(position) - BigInt(before))).toEqual([1n, 2n])
    expect(events[0]).toMatchObject({
      ...{
        type: 'died',
        queue: 'billing',
        kind: 'charge',
        generation: 0,
        reason: 'skipped',
        cause: 'c',
        message: 'no',
      },
      ...{ id: expect.stringMatching(/^\d+$/), at: expect.any(Date) },
    })
    expect(await start()).toBe(events.at(-1)?.position)
  })

  it('never hides an event whose transaction commits late behind a cursor that has passed', async () => {
    const before = await start()
    const early = await inTransaction(async (tx) => {
      await tx.run(write, ['1', 'died']) // not committed yet
      await happen('2')
      await store.sequenceEvents(100)
      return behind(before)
    })

    await until(() => store.sequenceEvents(100))

    expect(jobsOf(early)).toEqual(['2'])
    expect(jobsOf(await behind(early.at(-1)?.position ?? ''))).toEqual(['1'])
  })

  it('lets two sequencers work at once without a gap, a repetition or a reader that passes one by', async () => {
    const before = await start()
    await happen('1')
    let second: Promise<number> | undefined
    await inTransaction(async (tx) => {
      await tx.run(sequence, [100]) // holds the head, not committed yet
      await happen('2')
      second = store.sequenceEvents(100)
      await lockWaits(db)
      expect(await behind(before)).toEqual([])
    })

    expect(await second).toBe(1)
    const events = await behind(before)
    expect(jobsOf(events)).toEqual(['1', '2'])
    expect(events.map(({ position }) => BigInt(position) - BigInt(before))).toEqual([1n, 2n])
  })

  it('keeps the ids of transitions, whatever their positions', async () => {
    const before = await start()
    await inTransaction(async (tx) => {
      await tx.run(write, ['1', 'died'])
      await happen('2')
      await store.sequenceEvents(100)
    })
    await until(() => store.sequenceEvents(100))

    const [first, second] = await behind(before)

    expect([first?.jobId, second?.jobId]).toEqual(['2', '1'])
    expect(BigInt(first?.id ?? 0)).toBeGreaterThan(BigInt(second?.id ?? 0))
  })

  it('is read by type, queue and kind, and says how far it was looked through', async () => {
    const before = await start()
    await happen('1')
    await happen('2', 'quarantined')
    await store.sequenceEvents(100)

    const read = await store.readEvents({ types: ['quarantined'] }, before, 100)
    const none = await store.readEvents({ queue: 'other' }, before, 100)
    const one = await store.readEvents({ kind: 'charge' }, before, 1)

    expect(jobsOf(read.events)).toEqual(['2'])
    expect(none).toEqual({ events: [], position: await start(), isEnd: true })
    expect(one).toMatchObject({ position: String(BigInt(before) + 1n), isEnd: false })
  })

  it('passes over thousands of events nobody asked for, some thousands at a time', async () => {
    const before = await start()
    await db.script(`
      insert into spillway.event_outbox (type, job_id, queue, kind, generation)
      select 'died', n, case n when 12000 then 'rare' else 'q' end, 'k', 0 from generate_series(1, 12000) n`)
    while ((await store.sequenceEvents(5_000)) > 0);

    const first = await store.readEvents({ queue: 'rare' }, before, 10)

    expect(first).toEqual({ events: [], position: String(BigInt(before) + 10_000n), isEnd: false })
    expect(jobsOf(await behind(before, { queue: 'rare' }))).toEqual(['12000'])
  })

  it('stays as quick as it was while somebody reads for hours', async () => {
    const blocks = await inTransaction(async (tx) => {
      await tx.execute('set transaction isolation level repeatable read')
      await tx.execute('select from spillway.event_outbox')
      await db.script(`
        insert into spillway.event_outbox (type, job_id, queue, kind, generation)
        select 'died', n, 'q', 'k', 0 from generate_series(1, 20000) n`)
      while ((await store.sequenceEvents(1_000)) > 0);
      await db.run(lookAgainIn, [3_600])
      const [plan] = await db.transaction(async (other) => {
        // The first time it also reads the catalogue.
        await other.run(write, ['1', 'died'])
        await other.run(blocksRead, [])
        await other.run(write, ['2', 'died'])
        return other.run(blocksRead, [])
      })
      return (JSON.parse(plan![0]) as [{ Plan: { 'Shared Hit Blocks': number } }])[0].Plan['Shared Hit Blocks']
    })
    const late = await store.sequenceEvents(1_000)
    await db.run(lookAgainIn, [0])

    expect(late).toBe(0)
    // A walk over the 20,000 that are deleted reads hundreds.
    expect(blocks).toBeLessThan(100)
  })

  it('tells once of each batch', async () => {
    const heard = await listenFor(url, 'spillway_notices')
    for (const job of ['1', '2', '3']) await happen(job)
    await store.sequenceEvents(2)
    await store.sequenceEvents(2)
    await store.sequenceEvents(2)

    const end = BigInt(await start())

    expect(await heard.close()).toEqual([`v|${end - 1n}`, `v|${end}`])
  })

  it.each<[string, (session: WorkerSession, job: ClaimedJob) => Promise<unknown>]>([
    ['hands it back', (session, job) => session.settle([{ job, end: { event: 'handback' } }])],
    ['no longer holds what it claimed', (session) => session.beat([])],
    ['ends', (session) => session.end()],
  ])('tells of a job that is held when a worker %s for the tenth time, and counts it', async (_, act) => {
    const before = await start()
    const { id } = await given.job({ handbacks: 9 })
    const session = await store.register(workerInfo())
    const [job] = await session.claim('default', 1)
    await act(session, job as ClaimedJob)
    await session.close()
    await store.sequenceEvents(100)

    const events = await behind(before)

    expect((await store.getJob(id))?.state).toBe('quarantined')
    expect(events).toMatchObject([{ type: 'quarantined', jobId: id, reason: 'handed_back' }])
    const counters = sql<[], string[]>`select what, reason, n from spillway.counters`
    expect(await db.run(counters, [])).toEqual([['quarantined', 'handed_back', '1']])
  })

  it('keeps events for its retention, in bounded passes, oldest first', async () => {
    const before = await start()
    for (const job of ['1', '2', '3']) await happen(job)
    await store.sequenceEvents(100)
    await clock.advance('6d')
    await happen('4')
    await store.sequenceEvents(100)
    const early = await store.retain(100)
    await clock.advance('2d')

    const first = await store.retain(2)
    const second = await store.retain(2)

    expect([early, first, second].map(({ events }) => events)).toEqual([0, 2, 1])
    expect(jobsOf(await behind(before))).toEqual(['4'])
    // A reader that was away longer goes on with what is there.
    expect((await store.readEvents({}, '0', 10)).events).toHaveLength(1)
  })

  it('follows the retention that is set, and keeps who set it', async () => {
    await happen('1')
    await store.sequenceEvents(100)

    expect(await store.setEventRetention(3_600_000, act)).toBe(3_600_000)
    await clock.advance('2h')
    const { events } = await store.retain(100)
    await store.setEventRetention(604_800_000, act)

    expect(events).toBe(1)
    const { items } = await store.listAudit({ action: 'set_event_retention' }, { limit: 10 })
    expect(items.map(({ actor }) => actor)).toEqual(['ann', 'ann'])
  })

  it('forgets the words of a job that is purged, not that it died', async () => {
    const before = await start()
    const dead = await given.job({ state: 'archived' })
    await happen(dead.id)
    await store.sequenceEvents(100)
    await happen(dead.id)
    const request = {
      ...{ action: 'purge' as const, selector: { ids: [dead.id] }, dryRun: false, rate: null, maxWaiting: 0 },
      ...{ canary: null, abortAbove: 0, holdMs: 0, preview: null },
    } as const
    await store.actOnIds([dead.id], request, act)
    await store.sequenceEvents(100)

    const events = await behind(before)

    expect(events.map(({ jobId, message }) => [jobId, message])).toEqual([
      [dead.id, null],
      [dead.id, null],
    ])
  })
})
