import type { EnqueueOptions } from '../../client/client.js'
import { SpillwayError } from '../../job/errors.js'
import { decodePayload } from '../../job/payload.js'
import { Answered, acting, type Call, type Handlers, need } from '../call.js'
import type { jobRoutes } from '../contract/jobs.js'
import { defined } from '../defined.js'
import { checkQueue, checkReach, jobFor, narrowed, noJob } from '../scope.js'
import { actOnIds, beginBulk, overridesOf } from './bulk.js'
import { sharedPage } from './pages.js'
import { totalOfDead, totalOfJobs } from './totals.js'
import { withinKeys } from './unique-keys.js'

export const jobHandlers: Handlers<keyof typeof jobRoutes> = {
  async enqueue(call, { body }) {
    checkQueue(call, body.queue ?? 'default')
    const { kind, payload = {}, unique, run_at, max_attempts, on_quarantine, ...rest } = body
    const settings = {
      ...rest,
      runAt: run_at,
      maxAttempts: max_attempts,
      onQuarantine: on_quarantine,
    } as EnqueueOptions
    const { key, on_conflict } = typeof unique === 'object' ? unique : { key: unique }
    const enqueued = await withinKeys(call, on_conflict, (onConflict) =>
      call.client.enqueue(kind, payload, {
        ...settings,
        ...(key === undefined ? {} : { unique: { key, onConflict } }),
      }),
    )
    return new Answered(enqueued.inserted ? 201 : 200, enqueued)
  },

  async listJobs(call, { query }) {
    const { tag, reason, cause, q, state, queue, kind, limit, cursor } = query
    const isAboutDead = tag !== undefined || reason !== undefined || cause !== undefined || q !== undefined
    if (isAboutDead && state !== undefined && state !== 'archived') {
      throw new SpillwayError(
        'invalid_option',
        `cannot list ${state} jobs by tag, reason, cause or q: those select among archived jobs`,
      )
    }
    const filter = narrowed(call, { queue, kind })
    const page = { limit, cursor }
    if (isAboutDead) {
      const wanted = { ...filter, tag, reason, cause, error: q }
      const found = await sharedPage(call, 'dlq', wanted, page, () => call.client.dlq.list(defined(wanted), page))
      return { ...found, items: found.items.map((job) => call.views.job(job)), total: await totalOfDead(call, wanted) }
    }
    const wanted = defined({ ...filter, state })
    const found = await sharedPage(call, 'jobs', wanted, page, () => call.client.jobs.list(wanted, page))
    return { ...found, items: found.items.map((job) => call.views.job(job)), total: await totalOfJobs(call, wanted) }
  },

  async countJobs(call) {
    if (call.principal.queues === null) return call.once('counts', () => call.client.jobs.counts())
    const counts: Record<string, number> = {}
    for (const { queue, counts: of = {} } of await call.client.queues.list()) {
      if (!call.principal.queues.includes(queue)) continue
      for (const [state, n] of Object.entries(of)) counts[state] = (counts[state] ?? 0) + n
    }
    return counts
  },

  getJob: (call, { params, query }) => showJob(call, params.id, query.include_payload === true),

  async jobHistory(call, { params }) {
    const job = await jobFor(call, params.id, { payload: false })
    if (job === undefined) throw noJob(params.id)
    return { items: (job.history ?? []).map((entry) => call.views.entry(entry)) }
  },

  async jobWhy(call, { params }) {
    await checkReach(call, params.id)
    const why = await call.client.jobs.why(params.id)
    if (why === undefined) throw noJob(params.id)
    return why
  },

  async jobPayloads(call, { params }) {
    if ((await jobFor(call, params.id, { payload: false })) === undefined) throw noJob(params.id)
    await call.client.audit.note('reveal_payload', { id: params.id, versions: true }, acting(call))
    const versions = await call.client.jobs.payloadVersions(params.id)
    const items = versions.map(({ payload, ...version }) => {
      const decoded = decodePayload(payload, { bigint: true })
      return { ...version, payload: call.views.masker.mask(decoded.ok ? decoded.value : payload) }
    })
    return { items }
  },

  async retryJob(call, { params, body }) {
    checkQueue(call, body.queue)
    await checkReach(call, params.id)
    return withinKeys(call, body.on_conflict, (onConflict) =>
      call.client.jobs.retry(params.id, { ...overridesOf(body), ...defined({ onConflict }), ...acting(call, body) }),
    )
  },

  async cloneJob(call, { params, body }) {
    checkQueue(call, body.queue)
    await checkReach(call, params.id)
    return withinKeys(call, undefined, () =>
      call.client.jobs.clone(params.id, { ...overridesOf(body), ...acting(call, body) }),
    )
  },

  async cancelJob(call, { params, body }) {
    await checkReach(call, params.id)
    return call.client.jobs.cancel(params.id, acting(call, body))
  },

  async killJob(call, { params, body }) {
    await checkReach(call, params.id)
    return call.client.jobs.kill(params.id, acting(call, body))
  },

  async promoteJob(call, { params, body }) {
    await checkReach(call, params.id)
    return call.client.jobs.promote(params.id, acting(call, body))
  },

  async rescheduleJob(call, { params, body }) {
    await checkReach(call, params.id)
    const { run_at: runAt, delay } = body
    if (runAt === undefined && delay === undefined) {
      throw new SpillwayError('invalid_option', 'cannot reschedule the job: name run_at or delay')
    }
    return call.client.jobs.reschedule(params.id, { runAt, delay }, acting(call, body))
  },

  async editJob(call, { params, body }) {
    checkQueue(call, body.queue)
    await checkReach(call, params.id)
    const { priority, queue } = body
    return call.client.jobs.edit(params.id, defined({ priority, queue }), acting(call, body))
  },

  async editPayload(call, { params, body }) {
    const job = await jobFor(call, params.id, { payload: true })
    if (job === undefined) throw noJob(params.id)
    const stored = decodePayload(job.payloadText ?? 'null', { bigint: true })
    // Who was shown masks sends them back; what is stored under them stays.
    const payload = stored.ok ? call.views.masker.restore(body.payload, stored.value) : body.payload
    return call.client.jobs.editPayload(params.id, payload, { ...acting(call, body), unchecked: body.unchecked })
  },

  async deleteJob(call, { params, query }) {
    await checkReach(call, params.id)
    return call.client.jobs.purge(params.id, acting(call, query))
  },

  actOnJobs: (call, { body }) => actOnIds(call, body.action, body.ids, body, 'jobs'),

  bulkJobs: (call, { body }) => beginBulk(call, body.action, body, 'jobs'),
}

/** @throws `not_found`; `forbidden` without the right to see payloads. No payload without a note of who saw it. */
export async function showJob(call: Call, id: string, withPayload: boolean): Promise<unknown> {
  if (withPayload) need(call, 'payload:read')
  const found = await jobFor(call, id, { payload: false })
  if (found === undefined) throw noJob(id)
  if (!withPayload) return call.views.job(found)
  await call.client.audit.note('reveal_payload', { id }, acting(call))
  const job = await jobFor(call, id, { payload: true })
  if (job === undefined) throw noJob(id)
  return call.views.job(job)
}
