import { expect, it } from 'vitest'
import type { Job } from '../../src/job/job.js'
import type { JobState } from '../../src/job/states.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { DlqFilter, JobFilter, Page, PageRequest } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'
import { setAside } from './aside.js'

/** Walks a list to its end. */
async function walk(list: (page: PageRequest) => Promise<Page<Job>>, limit: number): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit, ...(cursor === undefined ? {} : { cursor }) })
    ids.push(...page.items.map((job) => job.id))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  return ids
}

const newestFirst = (a: string, b: string) => Number(BigInt(b) - BigInt(a))

/** A cursor of a list of dead letters that nobody was handed. */
function dated(at: string): string {
  return Buffer.from(JSON.stringify([at, '1'])).toString('base64url')
}

describeStore('listing jobs', ({ store, given, db }) => {
  it('walks every job of every place, newest first, whatever the filter', async () => {
    const made: { id: string; state: JobState; queue: string; kind: string }[] = []
    const states = ['available', 'archived', 'completed', 'scheduled', 'running', 'failed', 'quarantined'] as const
    for (const [n, state] of [...states, ...states, ...states].entries()) {
      const [queue, kind] = [n % 2 ? 'odd' : 'even', n % 3 ? 'send' : 'bill']
      made.push({ id: (await given.jobs(1, { state, queue, kind }))[0] as string, state, queue, kind })
    }
    made.push({ id: await setAside(db, given), state: 'available', queue: 'default', kind: 'test' })
    const filters: JobFilter[] = [
      {},
      { queue: 'odd' },
      { kind: 'bill' },
      { queue: 'even', kind: 'send' },
      ...states.flatMap((state) => [{ state }, { state, queue: 'odd' }, { state, kind: 'send', queue: 'even' }]),
      { state: 'waiting' },
      { queues: ['odd', 'default'] },
      { queues: ['even'], state: 'archived' },
    ]

    for (const filter of filters) {
      const expected = made
        .filter((job) =>
          Object.entries(filter).every(([key, value]) =>
            key === 'queues' ? (value as string[]).includes(job.queue) : job[key as 'queue'] === value,
          ),
        )
        .map(({ id }) => id)
        .sort(newestFirst)
      expect(await walk((page) => store.listJobs(filter, page), 4), JSON.stringify(filter)).toEqual(expected)
    }
  })

  it('finds the jobs of a queue that has more than it sorts', async () => {
    await given.jobs(20, { state: 'archived', queue: 'few' })
    const many = await given.jobs(5_100, { state: 'archived', queue: 'many' })
    const newest = [...many].sort(newestFirst).slice(0, 3)

    const { items } = await store.listJobs({ queue: 'many' }, { limit: 3 })

    expect(items.map(({ id }) => id)).toEqual(newest)
  })

  it('carries no payload and no history', async () => {
    await given.job({ state: 'archived', payload: { secret: 1 } })

    const { items } = await store.listJobs({ state: 'archived' }, { limit: 1 })

    expect(items[0]).toMatchObject({ state: 'archived', attempt: 3, dlq: { reason: 'attempts_exhausted' } })
    for (const key of ['payload', 'payloadText', 'history', 'result', 'progress'])
      expect(items[0]).not.toHaveProperty(key)
  })

  it.each([
    'x',
    '',
    'bnVsbA',
    Buffer.from('["1","2"]').toString('base64url'),
    Buffer.from('["99999999999999999999"]').toString('base64url'),
    ...['2026-02-30T00:00:00.000000Z', '2026-13-01T00:00:00.000000Z', '2026-01-01T24:61:00.000000Z'].map(dated),
    ...['0000-01-01T00:00:00.000000Z', '999999-01-01T00:00:00.000000Z', 'infinity'].map(dated),
  ])('refuses the cursor %j', async (cursor) => {
    await expect(store.listJobs({}, { limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(store.listDlq({}, { limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it.each([0, -1, 1.5, 1001, Number.NaN])('refuses %d rows at once', async (limit) => {
    await expect(store.listJobs({}, { limit })).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(store.listDlq({}, { limit })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describeStore('listing dead letters', ({ store, given, db }) => {
  const dead = async (seed: Parameters<typeof given.job>[0] = {}) => given.job({ state: 'archived', ...seed })
  const list = async (filter: DlqFilter, limit = 50) =>
    (await store.listDlq(filter, { limit })).items.map(({ id }) => id)

  it('answers each filter, and any of them together, as a search by hand would', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
    const texts = ["it's 100% \\ over_quota", 'IT IS over quota', 'overXquota', 'ünïcode ☃ failed', 'plain']
    for (let n = 0; n < 40; n++) {
      await given.jobs(1, {
        state: 'archived',
        queue: n % 2 ? 'mail' : "o'queue",
        kind: n % 3 ? 'send' : 'bill%',
        tags: n % 4 === 0 ? null : n % 4 === 1 ? ['a'] : ['a', 'b_c'],
        dlqReason: n % 5 ? 'attempts_exhausted' : 'it"s over',
        cause: `cause-${n % 5}-${n % 3}`,
        errorMessage: texts[n % 5] as string,
        dlqAt: at(n % 7),
      })
    }
    const all = (await store.listDlq({}, { limit: 100 })).items
    const ids = all.filter((_, n) => n % 3 === 0).map(({ id }) => id)
    const singles: DlqFilter[] = [
      { queue: "o'queue" },
      { queue: 'mail' },
      { kind: 'bill%' },
      { tag: 'a' },
      { tag: 'b_c' },
      { tag: 'bxc' },
      { reason: 'it"s over' },
      { reason: 'max_attempts' },
      { cause: 'cause-1-2' },
      { error: 'OVER_quota' },
      { error: '% \\' },
      { error: 'over' },
      { error: '☃' },
      { error: 'nowhere to be found' },
      { since: at(3) },
      { until: at(3) },
      { since: at(2), until: at(5) },
      { ids: [...ids, 'x', '99999999999999999999'] },
      { state: 'archived' },
      { state: 'failed' },
    ]
    const pairs = singles.flatMap((one, n) => singles.slice(n + 1).map((other) => ({ ...one, ...other })))

    expect(all).toHaveLength(40)
    for (const filter of [...singles, ...pairs]) {
      const expected = all.filter((job) => matches(job, filter)).map(({ id }) => id)
      expect(await walk((page) => store.listDlq(filter, page), 7), JSON.stringify(filter)).toEqual(expected)
    }
  })

  it('lists by time of death, then id, newest first', async () => {
    const late = await dead({ dlqAt: new Date('2026-01-02') })
    const early = await dead({ dlqAt: new Date('2026-01-01') })
    const [first, second] = await given.jobs(2, { state: 'archived', dlqAt: new Date('2026-01-03') })

    expect(await list({})).toEqual([second, first, late.id, early.id])
  })

  it('sees every surviving row once while rows are retried and others die', async () => {
    const made = await given.jobs(60, { state: 'archived', queue: 'walked' })
    const doomed = made.filter((_, n) => n % 6 === 0)
    const seen: string[] = []
    let cursor: string | undefined

    for (;;) {
      const page = await store.listDlq({ queue: 'walked' }, { limit: 7, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...page.items.map(({ id }) => id))
      for (const id of doomed.splice(0, 2)) await store.cancelJob((await retry(id)).id, { actor: 'test' })
      await given.jobs(2, { state: 'archived', queue: 'walked' })
      if (page.cursor === null) break
      cursor = page.cursor
    }

    const survivors = made.filter((_, n) => n % 6 !== 0)
    expect(seen.filter((id) => survivors.includes(id))).toEqual([...survivors].sort(newestFirst))
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.every((id) => made.includes(id))).toBe(true)
  })

  it('goes on after a row named by its id, although times of death are finer than a Date', async () => {
    const [a = '', b = '', c = ''] = await given.jobs(3, { state: 'archived' })

    expect(await list({ beforeId: c })).toEqual([b, a])
    const { dlq } = (await store.getJob(c)) as Job
    await retry(c)
    expect(await list({ beforeId: c, beforeDlqAt: dlq?.dlqAt as Date })).toEqual([b, a])
    await expect(list({ beforeId: c })).rejects.toMatchObject({ code: 'not_found' })
    await expect(list({ beforeId: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await list({ beforeDlqAt: new Date('2000-01-01') })).toEqual([])
  })

  it('searches messages a bounded number of rows at a time, and says where it has not looked yet', async () => {
    const [needle = ''] = await given.jobs(1, { state: 'archived', cause: 'n', errorMessage: 'needle 4711' })
    await given.jobs(7_000, { state: 'archived', errorMessage: 'hay' })
    await db.run(sql`update spillway.dlq_causes set title = 'needle <n>' where cause = 'n'`, [])

    const first = await store.listDlq({ error: '4711' }, { limit: 10 })
    const second = await store.listDlq({ error: '4711' }, { limit: 10, cursor: first.cursor as string })

    expect(first).toMatchObject({ items: [], partial: true })
    expect(second.items.map(({ id }) => id)).toEqual([needle])
    expect(second.cursor).toBeNull()
    expect(await list({ error: 'needle' })).toEqual([needle])
  })

  const retry = (id: string) =>
    store.retryJob(id, { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }, { actor: 'test' })
})

function matches(job: Job, filter: DlqFilter): boolean {
  const { queue, kind, tag, reason, cause, error, since, until, ids, state } = filter
  const at = job.dlq?.dlqAt as Date
  return (
    (queue === undefined || job.queue === queue) &&
    (kind === undefined || job.kind === kind) &&
    (tag === undefined || job.tags.includes(tag)) &&
    (reason === undefined || job.dlq?.reason === (reason === 'max_attempts' ? 'attempts_exhausted' : reason)) &&
    (cause === undefined || job.dlq?.cause === cause) &&
    (error === undefined || (job.dlq?.errorMessage ?? '').toLowerCase().includes(error.toLowerCase())) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until) &&
    (ids === undefined || ids.includes(job.id)) &&
    (state === undefined || state === job.state)
  )
}
