import { defineJob, type JobHandler, Spillway } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const strict = defineJob({ kind: 'test', schema: z.object({ to: z.string() }) })
const never = { jobs: [] }
const fail = () => {
  throw new Error('the handler was entered')
}

describeStore('undecodable jobs', ({ store, given, db, url, checker }) => {
  const spillway = new Spillway({ url, actor: 'ada' })
  afterAll(() => spillway.close())

  const start = async (...jobs: JobHandler[]) => {
    const worker = spillway.worker({ queues: { default: {} }, poll: 50, maintenance: false, jobs })
    onTestFinished(() => worker.stop({ grace: 100, abort: 100 }))
    await worker.start()
    return worker
  }
  const held = (seed = {}) => given.job({ state: 'undecodable', heldReason: 'to: expected a text', ...seed })

  it('are listed with why, each as it is stored', async () => {
    const payloadText = '{"to":1,"exact":9007199254740993}'
    const job = await held({ payloadText, queue: 'mail' })
    await held({ kind: 'other' })
    await given.job({ state: 'quarantined' })

    const { items } = await spillway.undecodable.list({ queue: 'mail' })
    const all = await spillway.undecodable.list()
    const found = await spillway.undecodable.get(job.id)

    expect(items).toMatchObject([{ id: job.id, state: 'undecodable', reason: 'to: expected a text' }])
    expect(items[0]).not.toHaveProperty('payload')
    expect(all.items).toHaveLength(2)
    expect(found?.payloadText).toBe(payloadText)
  })

  it('are counted by kind and version as code says, which changes nothing', async () => {
    const fits = await held({ payload: { to: 'ada' } })
    const refused = await held({ payload: { to: 1 } })
    await held({ kind: 'stranger', version: 4 })
    const before = await checker.census()

    const checked = await spillway.undecodable.check({}, { jobs: [strict] })

    expect(checked).toMatchObject({ total: 3, wouldDecode: 1, refused: 1, unknown: 1 })
    expect(checked.groups).toEqual([
      expect.objectContaining({ kind: 'test', version: 1, total: 2, wouldDecode: 1, refused: 1, unknown: 0 }),
      { kind: 'stranger', version: 4, total: 1, wouldDecode: null, refused: 0, unknown: 1, samples: [] },
    ])
    expect(checked.groups[0]?.samples).toEqual([{ id: refused.id, path: 'to', message: expect.stringMatching(/./) }])
    expect(await checker.census()).toEqual(before)
    expect(await store.getJob(fits.id)).toEqual(await store.getJob(fits.id))
  })

  it('are a question to the worker that serves the kind and version, and unknown, never 0, where none does', async () => {
    await held({ payload: { to: 'ada' } })
    await held({ payload: { to: 1 } })
    const nobody = await spillway.undecodable.check()
    await start(strict.handle(() => undefined))
    await held({ version: 2 })

    const asked = await spillway.undecodable.check()

    expect(nobody).toMatchObject({ total: 2, wouldDecode: null, unknown: 2 })
    expect(asked.groups).toEqual([
      expect.objectContaining({ version: 1, total: 2, wouldDecode: 1, refused: 1 }),
      expect.objectContaining({ version: 2, total: 1, wouldDecode: null, unknown: 1 }),
    ])
    expect(await db.run(sql`select id from spillway.worker_tasks`, [])).toEqual([])
  })

  it('are unknown where the worker that serves them has just been killed', async () => {
    await held()
    await given.worker({ kinds: ['test@1'] })

    const checked = await spillway.undecodable.check({}, { within: 200 })

    expect(checked).toMatchObject({ wouldDecode: null, unknown: 1 })
  })

  it('are released where they decode now, and the rest stays with its reason', async () => {
    const fits = await held({ payload: { to: 'ada' }, attempt: 2, crashAttempt: 1, uniqueKey: 'k', tags: ['a'] })
    const refused = await held({ payload: { to: 1 } })
    const stranger = await held({ kind: 'stranger' })
    const dead = await given.job({ state: 'archived' })

    const ids = [fits, refused, stranger, dead].map(({ id }) => id)
    const release = await spillway.undecodable.release(
      { ids: [...ids, '999999999'] },
      { jobs: [strict], reason: 'deployed' },
    )

    expect(release.succeeded).toEqual([fits.id])
    expect(release.failed.map(({ id, code }) => [id, code]).sort()).toEqual(
      [
        [refused.id, 'undecodable'],
        [stranger.id, 'not_checked'],
        [dead.id, 'invalid_state'],
        ['999999999', 'not_found'],
      ].sort(),
    )
    const job = await store.getJob(fits.id, { payload: true })
    expect(job).toMatchObject({
      state: 'available',
      attempt: 2,
      crashAttempt: 1,
      uniqueKey: 'k',
      tags: ['a'],
      handbacks: 0,
    })
    expect(job?.history?.at(-1)).toMatchObject({ type: 'released', by: 'ada', why: 'deployed', forced: false })
    expect(await db.run(sql`select actor, action, reason from spillway.audit_log`, [])).toEqual([
      ['ada', 'release', 'deployed'],
    ])
    expect(await db.run(sql`select type, job_id from spillway.event_outbox`, [])).toEqual([['released', fits.id]])
    expect((await store.getJob(refused.id))?.state).toBe('undecodable')
  })

  it('are released by force whatever code says, and in bulk in batches', async () => {
    await given.jobs(250, { state: 'undecodable', kind: 'stranger' })
    await given.jobs(3, { state: 'undecodable', kind: 'another' })

    const refused = await spillway.undecodable.release({ kind: 'stranger' }, never)
    const forced = await spillway.undecodable.release({ kind: 'stranger' }, { force: true })

    expect(refused.succeeded).toEqual([])
    expect(refused.failed).toHaveLength(250)
    expect(forced.succeeded).toHaveLength(250)
    expect(await checker.census()).toEqual({ available: 250, undecodable: 3 })
  })

  it.each([[{}], [{ ids: [] }], [{ queue: '' }], [{ quue: 'a' } as object], [{ all: 'yes' } as object]])(
    'are never released because nothing was named: %j',
    async (selector) => {
      await held()

      await expect(spillway.undecodable.release(selector, { force: true })).rejects.toMatchObject({
        code: 'selector_refused',
      })

      expect(await checker.census()).toEqual({ undecodable: 1 })
    },
  )

  it('are not released with a payload that nobody has checked', async () => {
    const job = await held({ payload: { to: 'ada' } })
    // Zod asks twice: once whether it can answer at once, and again when it cannot.
    let edit: Promise<unknown> | undefined
    const checking = {
      ...strict,
      schema: z.object({ to: z.string() }).refine(async () => {
        edit ??= spillway.jobs.editPayload(job.id, { to: 1 })
        await edit
        return true
      }),
    }

    const { failed } = await spillway.undecodable.release(job.id, { jobs: [checking] })

    expect(failed).toMatchObject([{ id: job.id, code: 'job_moving' }])
    expect(await checker.census()).toEqual({ undecodable: 1 })
  })

  it('are told from what is quarantined, also by force', async () => {
    const quarantined = await given.job({ state: 'quarantined' })

    const { released, refused } = await store.releaseUndecodable([{ id: quarantined.id, fingerprint: null }], true, {
      actor: 'ada',
    })

    expect(released).toEqual([])
    expect(refused).toMatchObject([{ id: quarantined.id, code: 'invalid_state' }])
    expect(await checker.census()).toEqual({ quarantined: 1 })
  })

  it('are released once, however many release them at the same time', async () => {
    const ids = await given.jobs(20, { state: 'undecodable', payload: { to: 'ada' } })

    const releases = await db.transaction(async (tx) => {
      await tx.run(sql<[string], []>`select from spillway.held_entries where id = any ($1::bigint[]) for update`, [
        `{${ids.join(',')}}`,
      ])
      const all = Array.from({ length: 5 }, () => spillway.undecodable.release({ ids }, { force: true }))
      await until(async () => {
        const [row] = await db.run(
          sql<[], [n: string]>`select count(*) from pg_stat_activity where wait_event_type = 'Lock'`,
          [],
        )
        return Number(row?.[0]) >= 5
      })
      return all
    })

    const done = await Promise.all(releases)
    expect(done.flatMap(({ succeeded }) => succeeded).sort()).toEqual([...ids].sort())
    expect(await checker.census()).toEqual({ available: 20 })
  })

  it('are parked by the thousand, each once, over the connections there were', async () => {
    await given.jobs(5_000, { payloadText: '{"to":9007199254740993}' })
    const connections = async () =>
      Number(
        (
          await db.run(
            sql<[], [n: string]>`select count(*) from pg_stat_activity where datname = current_database()`,
            [],
          )
        )[0]?.[0],
      )
    const parked: string[] = []
    const worker = spillway.worker({ queues: { default: { concurrency: 200 } }, poll: 50, jobs: [strict.handle(fail)] })
    onTestFinished(() => worker.stop())
    worker.on('parked', ({ job }) => parked.push(job.id))
    await worker.start()
    let most = 0
    await until(async () => {
      most = Math.max(most, await connections())
      return (await checker.census())['undecodable'] === 5_000
    })

    expect(new Set(parked).size).toBe(5_000)
    expect(parked).toHaveLength(5_000)
    // The worker's own four, and at most ten each of the two pools.
    expect(most).toBeLessThanOrEqual(24 + 1)
  })

  it('run with the payload that was repaired', async () => {
    const job = await held({ payload: { to: 1 } })
    const seen: unknown[] = []
    await start(strict.handle((payload) => void seen.push(payload)))

    const edited = await spillway.jobs.editPayload(job.id, { to: 'ada' })
    const { succeeded } = await spillway.undecodable.release(job.id)
    await until(async () => (await store.getJob(job.id))?.state === 'completed')

    expect(edited).toMatchObject({ state: 'undecodable', version: 2, checked: true })
    expect(succeeded).toEqual([job.id])
    expect(seen).toEqual([{ to: 'ada' }])
    expect((await spillway.jobs.payloadVersions(job.id)).map(({ payload }) => payload)).toEqual([
      '{"to":1}',
      '{"to":"ada"}',
    ])
  })
})

describeStore('what a worker publishes of its kinds', ({ store, given, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const start = async (...jobs: JobHandler[]) => {
    const worker = spillway.worker({ queues: { quiet: {} }, poll: 50, maintenance: false, jobs })
    onTestFinished(() => worker.stop({ grace: 100, abort: 100 }))
    await worker.start()
  }

  it('checks edits of payloads, and names the places', async () => {
    const job = await given.job({ state: 'archived' })
    await start(strict.handle(() => undefined))

    const wrong = spillway.jobs.editPayload(job.id, { to: 1 })
    await expect(wrong).rejects.toMatchObject({
      code: 'payload_refused',
      message: expect.stringContaining('to must be string'),
    })
    const forced = await spillway.jobs.editPayload(job.id, { to: 1 }, { unchecked: true })
    const right = await spillway.jobs.editPayload(job.id, { to: 'ada' })

    expect([forced.checked, right.checked]).toEqual([false, true])
  })

  it.each([
    ['nobody serves the kind', { kind: 'stranger' }],
    ['the payload has another version', { version: 3 }],
  ])('says that nothing was checked where %s', async (_, seed) => {
    const job = await given.job({ state: 'archived', ...seed })
    await start(strict.handle(() => undefined))

    const edited = await spillway.jobs.editPayload(job.id, { to: 1 })

    expect(edited.checked).toBe(false)
  })

  it('is nothing where the schema cannot say, and the highest version where there are several', async () => {
    const silent = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } } as const
    await start(defineJob({ kind: 'silent', schema: silent }).handle(() => undefined))
    await start(defineJob({ kind: 'test', version: 2, schema: z.object({ a: z.string() }) }).handle(() => undefined))
    await start(strict.handle(() => undefined))

    const published = await store.publishedSchema('test')

    expect(published?.version).toBe(2)
    expect(JSON.parse(published?.schema ?? '')).toMatchObject({ properties: { a: { type: 'string' } } })
    expect(await store.publishedSchema('silent')).toBeUndefined()
  })

  it('warns of a retry whose payload its workers will not read, and says what would help', async () => {
    const job = await given.job({ state: 'archived', payload: { to: 1 } })
    const fine = await given.job({ state: 'archived', payload: { to: 'ada' } })
    await start(strict.handle(() => undefined))

    const warned = await spillway.dlq.retry(job.id)
    const quiet = await spillway.jobs.retry(fine.id)

    expect(warned.state).toBe('available')
    expect(warned.warnings?.join()).toMatch(/will not read its payload: to must be string.*jobs edit.*upcast/)
    expect(quiet.warnings?.join() ?? '').not.toContain('payload')
  })
})
