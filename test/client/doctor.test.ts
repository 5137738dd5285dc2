import { Spillway } from 'spillway'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { findingsOf } from '../../src/client/doctor.js'
import { DEFAULT_POLICY } from '../../src/job/policy.js'
import { Metrics } from '../../src/metrics/metrics.js'
import type { Diagnosis, TableDiagnosis } from '../../src/store/store.js'
import { emptyDatabase } from '../support/database.js'
import { onServer } from '../support/server.js'
import { describeStore } from '../support/store.js'

describeStore('the doctor', ({ store, given, db, url, clock }) => {
  const sampled = async () => ({
    samples: (await new Metrics(store, { everyMs: 0 }).samples()).get('spillway_dlq_expiring'),
  })
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const codes = async () => (await spillway.doctor()).findings.map(({ code, severity }) => `${severity} ${code}`)

  it('looks at the server and the way to it', async () => {
    const { diagnosis } = await spillway.doctor()

    expect(diagnosis?.server).toMatchObject({ isReplica: false, settings: { autovacuum: 'on', fsync: 'off' } })
    expect(Math.abs(diagnosis?.clock.skewMs ?? 9_999)).toBeLessThan(1_000)
    expect(diagnosis?.connection).toEqual({ isPooled: false, keepsNames: true, hearsNotices: true })
    expect(diagnosis?.schema.pending).toEqual([])
    expect(diagnosis?.tables?.lacking).toEqual([])
  })

  it('says that a server does not wait for its disk, and nothing else of a store that is well', async () => {
    expect(await codes()).toEqual(['error not_crash_safe'])
  })

  it('names who keeps dead rows from being removed: pid, application, since when', async () => {
    await onServer(url, async (client) => {
      await client.query(`set application_name = 'nightly report'`)
      await client.query('begin isolation level repeatable read')
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid from spillway.control')

      const { diagnosis } = await spillway.doctor()
      await client.query('rollback')

      const holder = diagnosis?.tables?.measures.horizon.find(({ pid }) => pid === rows[0]?.pid)
      expect(holder).toMatchObject({
        holder: 'session',
        application: 'nightly report',
        queryStartedAt: expect.any(Date),
      })
      expect(findingsOf(withHorizon(diagnosis!, { ...holder!, seconds: 700 }))).toContainEqual(
        expect.objectContaining({
          ...{ code: 'horizon_held', severity: 'error', message: expect.stringContaining('nightly report') },
          fix: expect.stringContaining(`pg_terminate_backend(${rows[0]?.pid})`),
        }),
      )
    })
  })

  it('names jobs that no worker takes, and kinds that no worker of their queue can run', async () => {
    await given.job({ queue: 'billing', kind: 'charge', runAt: new Date(Date.now() - 120_000) })
    await given.job({ queue: 'mail', kind: 'send', version: 2, runAt: new Date(Date.now() - 120_000) })
    await given.worker({ queues: ['mail'], kinds: ['send@1'] })

    const { findings } = await spillway.doctor()

    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'no_worker', severity: 'error', message: expect.stringContaining('billing') }),
    )
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'kind_unserved', message: expect.stringContaining('send (version 2)') }),
    )
  })

  it('sees that a queue falls behind although workers serve it', async () => {
    await given.worker({ queues: ['billing'], kinds: ['charge@1'] })
    await given.job({ queue: 'billing', kind: 'charge', runAt: new Date(Date.now() - 3_600_000) })

    expect(await codes()).toContain('error queue_behind')
  })

  it('counts leases of workers that are gone, and says when nobody leads', async () => {
    await given.job({ state: 'running' })
    await clock.advance('2m')

    expect(await codes()).toEqual(expect.arrayContaining(['error leases_expired', 'warning nobody_leads']))
  })

  it('shows what duties last failed with', async () => {
    await store.reportDuty('retain', null)
    await store.reportDuty('retain', 'disk full')

    const { findings } = await spillway.doctor()

    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'duty_failing',
        severity: 'error',
        message: expect.stringContaining('disk full'),
      }),
    )
  })

  it('warns before retention deletes dead letters, and of settings that are seldom meant', async () => {
    const died = new Date(Date.now() - 29 * 86_400_000)
    await given.job({ state: 'archived', queue: 'billing', dlqAt: died, retainFrom: died })
    await spillway.queues.set('mail', { retention: { dlq: 0 }, crashLimit: 1 })
    await spillway.queues.pause('billing', { actor: 'ada', reason: 'bank is down' })

    const { findings, ok } = await spillway.doctor()

    expect(ok).toBe(false)
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'dlq_expiring',
        message: expect.stringContaining('1 dead letters of queue billing'),
      }),
    )
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'dlq_keeps_nothing', fix: 'spillway queues set mail --dlq-retention 30d' }),
    )
    expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['crash_limit_hasty', 'queue_paused']))
    expect(findings.find(({ code }) => code === 'queue_paused')?.message).toContain('by ada')
  })

  it('names jobs that have been held for 30 days, which nothing deletes by itself', async () => {
    await given.jobs(2, { state: 'undecodable', queue: 'mail', heldAt: new Date(Date.now() - 31 * 86_400_000) })
    await given.job({ state: 'quarantined', queue: 'mail', heldAt: new Date(Date.now() - 29 * 86_400_000) })

    const held = (await spillway.doctor()).findings.filter(({ code }) => code === 'held_long')

    expect(held).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('2 undecodable jobs of queue mail') },
    ])
  })

  it('does not warn of dead letters that something keeps: a retention of their own, or that nobody has looked at them', async () => {
    const died = new Date(Date.now() - 29 * 86_400_000)
    const old = { state: 'archived', dlqAt: died, retainFrom: died } as const
    await given.job({ ...old, queue: 'own', retention: { dlq: 90 * 86_400_000 } })
    await given.job({ ...old, queue: 'unseen' })
    await spillway.queues.set('unseen', { keepUnreviewed: true })
    const near = await given.job({ ...old, queue: 'near' })

    const { findings, diagnosis } = await spillway.doctor()
    const { samples } = await sampled()

    expect(findings.filter(({ code }) => code === 'dlq_expiring')).toHaveLength(1)
    expect(diagnosis?.tables?.measures.expiring).toMatchObject([{ queue: 'near', n: 1 }])
    expect(samples).toEqual([{ labels: { queue: 'near' }, value: 1 }])
    expect((await spillway.dlq.expiring()).map(({ queue }) => queue)).toEqual(['near'])
    expect(near.queue).toBe('near')
  })

  it('tells worst things first', async () => {
    await spillway.queues.set('mail', { retention: { dlq: 0 }, crashLimit: 1 })
    await spillway.queues.pause('mail')

    const severities = (await spillway.doctor()).findings.map(({ severity }) => severity)

    expect(severities).toEqual([...severities].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)))
  })

  it('changes nothing', async () => {
    const job = await given.job({ state: 'archived' })

    await spillway.doctor()

    expect(await store.getJob(job.id, { payload: true })).toEqual(job)
    expect((await store.listAudit({}, { limit: 10 })).items).toEqual([])
    expect(await db.run({ name: 'never', text: 'select 1' } as never, [])).toEqual([['1']])
  })
})

const ORDER = ['error', 'warning', 'info']

function withHorizon(diagnosis: Diagnosis, ...horizon: TableDiagnosis['measures']['horizon']): Diagnosis {
  const tables = diagnosis.tables!
  return { ...diagnosis, tables: { ...tables, measures: { ...tables.measures, horizon } } }
}

describe('the doctor of a database without a schema', () => {
  const { url } = emptyDatabase()

  it('says so, and how to make it', async () => {
    const spillway = new Spillway({ url })
    onTestFinished(() => spillway.close())

    const { findings, ok } = await spillway.doctor()

    expect(ok).toBe(false)
    expect(findings).toContainEqual({
      ...{ code: 'schema_missing', severity: 'error', message: 'there is no schema', fix: 'spillway migrate' },
    })
  })

  it('rejects where the database cannot be reached', async () => {
    const spillway = new Spillway({ url: 'postgres://127.0.0.1:1/none' })
    onTestFinished(() => spillway.close())

    await expect(spillway.doctor()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

/** A server and a store that are well. */
const WELL: Diagnosis = {
  server: {
    ...{ version: '18.1', versionNumber: 180_001, database: 'app', role: 'app', isReplica: false },
    ...{ connections: 10, maxConnections: 100 },
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', autovacuum: 'on' },
  },
  clock: { skewMs: 3, roundTripMs: 2 },
  connection: { isPooled: false, keepsNames: true, hearsNotices: true },
  schema: { version: 10, latest: 10, pending: [] },
  tables: {
    ...{ lacking: [], queues: [], waiting: [], flows: [], held: [], bloat: [] },
    measures: {
      ...{ schemaVersion: 10, totals: [], jobs: [], lag: [], dlq: [], workers: [], pausedQueues: [], dueLagSeconds: 0 },
      ...{
        unserved: [],
        duties: [],
        isLed: true,
        rings: [],
        expiredLeases: 0,
        openOperations: 0,
        expiring: [],
        horizon: [],
      },
    },
  },
}

describe('what the doctor makes of it', () => {
  const NOW = new Date('2030-01-01T00:00:00Z')
  const tables = WELL.tables!
  const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)
  const duty = (lastSuccessAt: Date | null, over: Partial<TableDiagnosis['measures']['duties'][number]> = {}) => ({
    ...{ duty: 'rescue', lastSuccessAt, lastErrorAt: null, lastError: null, underWaySeconds: null },
    ...{ pausedAt: null, pausedBy: null, pausedReason: null, ...over },
  })
  const measured = (
    part: Partial<TableDiagnosis['measures']>,
    queues: TableDiagnosis['queues'] = tables.queues,
  ): Diagnosis => ({
    ...WELL,
    tables: { ...tables, queues, measures: { ...tables.measures, ...part } },
  })
  const IDLE_QUEUE = {
    ...{ queue: 'q', policy: DEFAULT_POLICY, counts: null, updatedAt: minutesAgo(0) },
    ...{ pausedAt: null, pausedBy: null, pausedReason: null },
  } as unknown as TableDiagnosis['queues'][number]
  const paused = (minutes: number, available: number) => ({
    ...IDLE_QUEUE,
    ...{ pausedAt: minutesAgo(minutes), pausedBy: 'ada', counts: { available } as never },
  })
  const slot = { holder: 'replication slot', name: 'old_replica', pid: null, application: null, role: null } as const

  it.each<[string, Diagnosis]>([
    ['', WELL],
    ['error server_too_old', { ...WELL, server: { ...WELL.server, versionNumber: 140_009 } }],
    ['error server_is_replica', { ...WELL, server: { ...WELL.server, isReplica: true } }],
    ['warning not_durable', { ...WELL, server: { ...WELL.server, settings: { synchronous_commit: 'off' } } }],
    ['warning autovacuum_off', { ...WELL, server: { ...WELL.server, settings: { autovacuum: 'off' } } }],
    ['warning connections_scarce', { ...WELL, server: { ...WELL.server, connections: 95 } }],
    ['warning clock_skew', { ...WELL, clock: { skewMs: -5_000, roundTripMs: 10 } }],
    ['', { ...WELL, clock: { skewMs: 5_000, roundTripMs: 20_000 } }],
    ['info transaction_pooler', { ...WELL, connection: { isPooled: true, keepsNames: false, hearsNotices: false } }],
    ['info session_pooler', { ...WELL, connection: { isPooled: true, keepsNames: true, hearsNotices: true } }],
    ['warning notices_unheard', { ...WELL, connection: { isPooled: false, keepsNames: true, hearsNotices: false } }],
    ['error schema_newer', { ...WELL, schema: { version: 11, latest: 10, pending: [] }, tables: null }],
    ['error role_lacks_rights', { ...WELL, tables: { ...tables, lacking: ['select on dlq_entries'] } }],
    ['info role_reads_only', { ...WELL, tables: { ...tables, lacking: ['insert on dlq_entries'] } }],
    [
      '',
      { ...WELL, tables: { ...tables, lacking: ['update on queues', 'update on audit_log', 'insert on migrations'] } },
    ],
    [
      'warning bloat',
      {
        ...WELL,
        tables: { ...tables, bloat: [{ table: 'dlq_entries', deadRows: 20_000, liveRows: 3, vacuumedAt: null }] },
      },
    ],
    [
      'warning dlq_growing',
      { ...WELL, tables: { ...tables, flows: [{ queue: 'q', arrived: 50, departed: 1, arrivedBefore: 24 }] } },
    ],
    ['', { ...WELL, tables: { ...tables, flows: [{ queue: 'q', arrived: 50, departed: 0, arrivedBefore: 2_400 }] } }],
    [
      'error horizon_held',
      measured({ horizon: [{ ...slot, transactions: 2_000_000, seconds: null, queryStartedAt: null }] }),
    ],
    ['', measured({ horizon: [{ ...slot, transactions: 20, seconds: null, queryStartedAt: null }] })],
    ['error promotion_late', measured({ dueLagSeconds: 90 })],
    ['warning duty_late', measured({ duties: [duty(minutesAgo(6))] })],
    ['', measured({ duties: [duty(minutesAgo(4))] })],
    ['warning duty_late', measured({ duties: [duty(minutesAgo(200), { duty: 'partitions' })] })],
    ['', measured({ duties: [duty(minutesAgo(100), { duty: 'partitions' })] })],
    // Nothing to send is not late.
    ['', measured({ duties: [duty(minutesAgo(200), { duty: 'webhooks' })] })],
    ['warning nobody_leads', measured({ isLed: false, duties: [duty(minutesAgo(6))] }, [IDLE_QUEUE])],
    ['error duty_hangs', measured({ duties: [duty(minutesAgo(1), { duty: 'webhooks', underWaySeconds: 400 })] })],
    ['', measured({ duties: [duty(minutesAgo(1), { duty: 'retain_dlq', underWaySeconds: 200 })] })],
    ['error duty_failing', measured({ duties: [duty(minutesAgo(4), { lastErrorAt: minutesAgo(3) })] })],
    ['', measured({ duties: [duty(minutesAgo(2), { lastErrorAt: minutesAgo(3) })] })],
    ['info duty_paused', measured({ duties: [duty(minutesAgo(40), { pausedAt: minutesAgo(40) })] })],
    ['warning duty_paused', measured({ duties: [duty(null, { pausedAt: minutesAgo(61) })] })],
    ['info queue_paused', measured({}, [paused(60, 9_999)])],
    ['warning queue_paused', measured({}, [paused(60, 10_000)])],
    ['warning queue_paused', measured({}, [paused(25 * 60, 1)])],
    ['info queue_paused', measured({}, [paused(25 * 60, 0)])],
  ])('finds "%s"', (expected, diagnosis) => {
    const found = findingsOf(diagnosis, NOW).map(({ code, severity }) => `${severity} ${code}`)

    expect(found.join()).toBe(expected)
  })

  it('has a fix for everything that is wrong', () => {
    const worst = { ...WELL, server: { ...WELL.server, isReplica: true, versionNumber: 1 }, tables: null }

    expect(findingsOf(worst).filter(({ severity, fix }) => severity !== 'info' && fix === null)).toEqual([])
  })
})
