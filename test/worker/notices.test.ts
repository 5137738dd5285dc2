import { type DeathEvent, defineJob, type JobHandler, revoke, Spillway, skip, type Worker } from 'spillway'
import { until } from 'spillway/testing'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { CallbackFailure } from '../../src/job/callback.js'
import { sql } from '../../src/store/postgres/sql.js'
import { callbackSession } from '../store/callback-session.js'
import { NOTICES, type Way } from '../support/notices.js'
import { describeStore } from '../support/store.js'

describeStore('whoever is told of a death', ({ store, given, db, url, clock }) => {
  const spillway = new Spillway({ url, actor: 'ann' })
  afterAll(() => spillway.close())
  // Counts what really comes into the dead letters, beside the counters that say so.
  beforeAll(() =>
    db.script(`
      create table public.inserts (id bigint);
      create function public.count_insert() returns trigger language plpgsql as
        $$ begin insert into public.inserts values (new.id); return null; end $$;
      create trigger count_insert after insert on spillway.dlq_entries for each row execute function public.count_insert()`),
  )

  const job = defineJob<{ how?: string; n?: number }>({ kind: 'test', maxAttempts: 1, backoff: () => 1 })
  const exact = defineJob<{ n: number }>({ kind: 'exact' })
  const handlers: JobHandler[] = [
    job.handle(({ how }, { signal }) => {
      if (how === 'skip') return skip('no_use')
      if (how === 'revoke') return revoke()
      if (how === 'hang') return new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new Error('no')
    }),
    exact.handle(() => undefined),
  ]

  /** A worker that runs until what is to happen has happened; the deaths its handlers were told of. */
  const run = async (happened: () => Promise<unknown>): Promise<void> => {
    const worker: Worker = spillway.worker({
      ...{ queues: { default: {}, plain: {}, none: {} }, poll: 100, heartbeat: 500, jobs: handlers },
      onDeath: [(event) => void deaths.push(event)],
    })
    onTestFinished(() => worker.stop({ grace: 1, abort: 1 }))
    await worker.start()
    await until(happened)
    await worker.idle()
    await worker.stop({ grace: 1_000, abort: 1_000 })
  }
  let deaths: DeathEvent[] = []
  const inState = (id: string, state: string | undefined) => async () => (await store.getJob(id))?.state === state
  const enqueue = async (how: string, options: object = {}) => (await spillway.enqueue(job, { how }, options)).id
  const dead = async () => {
    const { id } = await given.job()
    await spillway.jobs.kill(id, { reason: 'before' })
    return id
  }
  const bulk = async (action: 'retryMany' | 'discardMany' | 'purgeMany', id: string) => {
    const operation = await spillway.dlq[action]({ ids: [id] })
    await operation.done()
    return operation.id
  }

  /** A job that waits for a callback, on its last attempt. */
  const waiting = async (timeoutMs: number, then?: (token: string) => Promise<unknown>): Promise<string> => {
    const opened = await callbackSession(store, given)
    const { job: waits, callback } = await opened.waiting({ maxAttempts: 1 }, timeoutMs)
    await then?.(callback.token)
    await opened.session.end()
    await opened.session.close()
    return waits.id
  }

  const WAYS: Readonly<Record<Way, () => Promise<unknown>>> = {
    'attempts exhausted': async () => run(inState(await enqueue('throw'), 'archived')),
    'time-out of the last attempt': async () => run(inState(await enqueue('hang', { timeout: 50 }), 'archived')),
    skip: async () => run(inState(await enqueue('skip'), 'archived')),
    'deadline passed while it ran': async () => run(inState(await enqueue('hang', { deadline: '300ms' }), 'archived')),
    'deadline passed when it was claimed': async () => {
      const { id } = await given.job({ deadline: new Date(Date.now() - 1_000) })
      // Nobody sweeps here: the worker meets it first.
      const worker = spillway.worker({
        ...{ queues: { default: {} }, jobs: handlers, maintenance: false },
        onDeath: [(event) => void deaths.push(event)],
      })
      onTestFinished(() => worker.stop({ grace: 1, abort: 1 }))
      await worker.start()
      await until(inState(id, 'archived'))
      await worker.stop()
    },
    'deadline passed while it waited': async () => {
      const { id } = await given.job({ state: 'scheduled', dueAt: inAnHour(), deadline: new Date(Date.now() - 1_000) })
      await run(inState(id, 'archived'))
    },
    'no worker serves it, for longer than its queue waits': async () => {
      await spillway.queues.set('default', { noHandlerAfterMs: 1_000 })
      const { id } = await given.job({ kind: 'unknown', runAt: new Date(Date.now() - 60_000) })
      await run(inState(id, 'archived'))
    },
    'callback not answered in time, no attempt left': async () => {
      const id = await waiting(1)
      await run(inState(id, 'archived'))
    },
    'callback failed by its answer, no attempt left': async () => {
      await waiting(3_600_000, (token) =>
        store.failCallback(token, { name: 'Error', message: 'no', code: null } as CallbackFailure),
      )
    },
    'killed by an operator': async () => spillway.jobs.kill((await given.job()).id, { reason: 'the operator’s text' }),
    'failed, then moved': async () =>
      spillway.dlq.move((await given.job({ state: 'failed' })).id, { reason: 'the operator’s text' }),
    imported: async () => {
      const { id } = await given.job({ state: 'archived' })
      const [line] = (await store.exportDlq({}, { limit: 1 })).items
      await bulk('purgeMany', id)
      await forget()
      const { imported } = await spillway.dlq.import([line ?? ''])
      expect(imported).toBe(1)
    },
    'undo of a retry or a discard': async () => {
      for (const action of ['retryMany', 'discardMany'] as const) {
        const operation = await bulk(action, await dead())
        await forget()
        await (await spillway.dlq.undo(operation)).done()
      }
    },
    'attempts exhausted, no dead-letter queue': async () => {
      await spillway.queues.set('plain', { dlqEnabled: false })
      await run(inState(await enqueue('throw', { queue: 'plain' }), 'failed'))
    },
    'the same, and failed jobs are not kept': async () => {
      await spillway.queues.set('none', { dlqEnabled: false, retention: { failed: 0 } })
      await run(inState(await enqueue('throw', { queue: 'none' }), undefined))
    },
    'payload cannot be read': async () => {
      const { id } = await given.job({ kind: 'exact', payloadText: '{"n":9007199254740993}' })
      await run(inState(id, 'undecodable'))
    },
    'crashes used up its starts': async () => {
      const silent = await given.worker({ heartbeatAt: new Date(Date.now() - 60_000) })
      await given.job({ state: 'running', registration: silent, maxAttempts: 1, attempt: 0, crashAttempt: 3 })
      await store.rescue(45_000, 3)
    },
    'handed back ten times in a row': async () => {
      const gone = await given.worker({ state: 'stopping', heartbeatAt: new Date(Date.now() - 60_000) })
      await given.job({ state: 'running', registration: gone, handbacks: 9 })
      await store.rescue(45_000, 3)
    },
    revoke: async () => run(inState(await enqueue('revoke'), undefined)),
    cancelled: async () => spillway.jobs.cancel((await given.job()).id),
    retried: async () => {
      const id = await dead()
      await forget()
      await spillway.dlq.retry(id)
    },
    discarded: async () => {
      const id = await dead()
      await forget()
      await bulk('discardMany', id)
    },
    purged: async () => {
      const id = await dead()
      await forget()
      await bulk('purgeMany', id)
    },
    'retention lapsed': async () => {
      await dead()
      await forget()
      await clock.advance('31d')
      await store.retain(100)
    },
  }

  /** What was done to get there is not what the way is about. */
  async function forget(): Promise<void> {
    await db.script(
      'delete from spillway.counters; delete from spillway.event_outbox; delete from spillway.event_log; delete from public.inserts',
    )
  }

  it.each(NOTICES)('hears of it as the page says: $way', async ({ way, onDeath, event, counter }) => {
    deaths = []
    await forget()
    await WAYS[way]()
    if (onDeath !== '–') await until(() => deaths.length > 0)

    const { items } = await spillway.events.list()
    const counters = await db.run(
      sql<[], [what: string, reason: string, n: string]>`
        select what, reason, sum(n) from spillway.counters group by 1, 2 order by 1, 2`,
      [],
    )
    const [inserts] = await db.run(sql<[], [string]>`select count(*) from public.inserts`, [])

    expect(deaths).toHaveLength(onDeath === '–' ? 0 : 1)
    expect(items.map(({ type }) => type)).toEqual(event === '–' ? [] : [event])
    const said = counters.map(([what, reason]) => `${what}, ${what === 'expired' ? 'its reason' : reason}`).join('; ')
    expect(said).toBe(counter === '–' ? '' : counter)
    const arrived = counters.filter(([what]) => what === 'arrived').reduce((sum, [, , n]) => sum + Number(n), 0)
    expect(arrived).toBe(Number(inserts?.[0]))
  })

  it('is given the whole job, also where nothing is kept of it', async () => {
    deaths = []
    await spillway.queues.set('none', { dlqEnabled: false, retention: { failed: 0 } })
    const { id } = await spillway.enqueue(
      job,
      { how: 'throw', n: 1 },
      { queue: 'none', tags: ['a'], metadata: { m: 1 } },
    )

    await run(inState(id, undefined))

    expect(deaths).toHaveLength(1)
    expect(deaths[0]).toMatchObject({
      ...{ reason: 'attempts_exhausted', error: 'no', errorClass: 'Error', generation: 0, state: 'gone' },
      cause: expect.stringMatching(/^[0-9a-f]{16}$/),
      job: {
        ...{
          id,
          kind: 'test',
          queue: 'none',
          attempt: 1,
          maxAttempts: 1,
          runLease: 1,
          tags: ['a'],
          metadata: { m: 1 },
        },
        ...{ payload: { how: 'throw', n: 1 }, state: 'failed', reason: 'attempts_exhausted' },
      },
    })
  })

  it('is given the same of a job that a sweep gave up', async () => {
    deaths = []
    const deadline = new Date(Date.now() - 1_000)
    const seed = { state: 'retryable', attempt: 2, tags: ['a'], payload: { n: 1 }, generation: 3 } as const
    const { id } = await given.job({ ...seed, dueAt: inAnHour(), deadline })

    await run(inState(id, 'archived'))

    expect(deaths).toHaveLength(1)
    expect(deaths[0]).toMatchObject({
      ...{ reason: 'deadline_exceeded', errorClass: 'DeadlineExceeded', generation: 3, state: 'archived' },
      error: `the deadline ${deadline.toISOString()} has passed`,
      job: { id, attempt: 2, tags: ['a'], payload: { n: 1 }, state: 'archived', dlq: { reason: 'deadline_exceeded' } },
    })
    const stored = await store.getJob(id, { payload: true })
    expect(deaths[0]?.job).toEqual(stored)
  })

  it('is given the same where a sweep gave it up and nothing is kept of it', async () => {
    deaths = []
    await spillway.queues.set('none', { dlqEnabled: false, retention: { failed: 0 } })
    const seed = { state: 'scheduled', queue: 'none', payload: { n: 2 } } as const
    const { id } = await given.job({ ...seed, dueAt: inAnHour(), deadline: new Date(Date.now() - 1_000) })

    await run(inState(id, undefined))

    expect(deaths).toMatchObject([
      { state: 'gone', reason: 'deadline_exceeded', job: { id, state: 'failed', payload: { n: 2 }, dlq: null } },
    ])
  })
})

function inAnHour(): Date {
  return new Date(Date.now() + 3_600_000)
}
