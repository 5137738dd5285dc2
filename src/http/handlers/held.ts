import { InvalidStateError, SpillwayError } from '../../job/errors.js'
import { decodePayload } from '../../job/payload.js'
import { acting, type Call, type Handlers, need } from '../call.js'
import type { heldRoutes } from '../contract/held.js'
import { defined } from '../defined.js'
import { jobFor, narrowed, noJob, oneQueue, reachable, reaches } from '../scope.js'
import { sharedPage } from './pages.js'

export const heldHandlers: Handlers<keyof typeof heldRoutes> = {
  async listQuarantine(call, { query }) {
    const page = await sharedPage(call, 'quarantine', {}, query, () => call.client.quarantine.list(query))
    return { ...page, items: page.items.filter(({ queue }) => reaches(call.principal, queue)) }
  },

  async getQuarantined(call, { params, query }) {
    const { fingerprint } = params
    const payload = query.include_payload === true
    if (payload) need(call, 'payload:read')
    const found = await call.client.quarantine.get(fingerprint)
    if (found === undefined || !reaches(call.principal, found.queue)) throw noFingerprint(fingerprint)
    const jobs = found.jobs.filter(({ queue }) => reaches(call.principal, queue))
    const crashes = await crashesFor(call, found)
    if (!payload) return { ...found, ...crashes, jobs }
    await call.client.audit.note('reveal_payload', { fingerprint }, acting(call))
    const { payloadText, ...detail } = {
      payloadText: undefined,
      ...(await call.client.quarantine.get(fingerprint, { payload })),
    }
    const decoded = payloadText === undefined ? undefined : decodePayload(payloadText, { bigint: true })
    const shown = decoded?.ok ? { payload: call.views.masker.mask(decoded.value) } : {}
    return { ...found, ...detail, ...crashes, jobs, ...shown }
  },

  async releaseQuarantined(call, { params, body }) {
    await checkAllWithin(call, params.fingerprint)
    const { canary } = body
    return call.client.quarantine.release(params.fingerprint, { ...defined({ canary }), ...acting(call, body) })
  },

  async listUndecodable(call, { query }) {
    const { limit, cursor, ...filter } = query
    const wanted = { ...defined(narrowed(call, filter)), state: 'undecodable' } as const
    const paging = { limit, cursor }
    const page = await sharedPage(call, 'jobs', wanted, paging, () => call.client.jobs.list(wanted, paging))
    return { ...page, items: page.items.map((job) => call.views.job(job)) }
  },

  async checkUndecodable(call, { body }) {
    const check = await call.client.undecodable.check(selectorOf(call, body))
    const text = (it: string) => call.views.masker.text(it)
    const groups = check.groups.map((group) => ({
      ...group,
      samples: group.samples.map((it) => ({ ...it, message: text(it.message) })),
    }))
    return { ...check, groups }
  },

  async releaseUndecodable(call, { body }) {
    const { force, reason, ...selector } = body
    return call.client.undecodable.release(selectorOf(call, selector), {
      ...defined({ force }),
      ...acting(call, { reason }),
    })
  },

  async releaseJob(call, { params, body }) {
    const { id } = params
    const job = await jobFor(call, id, { payload: false })
    if (job === undefined) throw noJob(id)
    const { force } = body
    const { failed } =
      job.state === 'undecodable'
        ? await call.client.undecodable.release(id, { ...defined({ force }), ...acting(call, body) })
        : job.state === 'quarantined'
          ? await call.client.quarantine.releaseIds([id], acting(call, body))
          : refused(id, job.state)
    const [refusal] = failed
    if (refusal !== undefined) throw new SpillwayError(refusal.code as SpillwayError['code'], refusal.message)
    return { id, state: 'available', changed: true }
  },
}

type Detail = NonNullable<Awaited<ReturnType<Call['client']['quarantine']['get']>>>

/** Of the crashes those of jobs that the caller reaches, and who died of them. */
async function crashesFor(call: Call, { crashLog, workers }: Detail): Promise<Pick<Detail, 'crashLog' | 'workers'>> {
  if (call.principal.queues === null) return { crashLog, workers }
  const { within } = await reachable(call, [...new Set(crashLog.map(({ jobId }) => jobId))])
  const own = crashLog.filter(({ jobId }) => within.includes(jobId))
  return { crashLog: own, workers: [...new Set(own.flatMap(({ worker }) => worker ?? []))] }
}

/** @throws `not_found`, `forbidden`: releasing a fingerprint lets all its jobs go, wherever they are. */
async function checkAllWithin(call: Call, fingerprint: string): Promise<void> {
  if (call.principal.queues === null) return
  const found = await call.client.quarantine.get(fingerprint)
  const mine = found?.jobs.filter(({ queue }) => reaches(call.principal, queue)) ?? []
  if (found === undefined || (mine.length === 0 && !reaches(call.principal, found.queue)))
    throw noFingerprint(fingerprint)
  if (!found.blockedIsPartial && mine.length === found.held + found.blocked) return
  throw new SpillwayError(
    'forbidden',
    `cannot release ${fingerprint.slice(0, 40)} as ${call.principal.actor}: jobs of other queues are held with it; POST /jobs/{id}/release lets single ones go`,
  )
}

function refused(id: string, state: ConstructorParameters<typeof InvalidStateError>[1]): never {
  throw new InvalidStateError(id, state, 'release', ['quarantined', 'undecodable'])
}

type HeldSelector = {
  queue?: string | undefined
  kind?: string | undefined
  ids?: string[] | undefined
  all?: boolean | undefined
}

function selectorOf(call: Call, { queue, kind, ids, all }: HeldSelector) {
  return defined({ queue: oneQueue(call, queue), kind, ids, all })
}

function noFingerprint(fingerprint: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `no fingerprint ${JSON.stringify(fingerprint.slice(0, 40))}; GET /quarantine lists them`,
  )
}
