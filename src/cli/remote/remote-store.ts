import { randomUUID } from 'node:crypto'
import { toWire, wireJson } from '../../client/wire.js'
import type { ApiClient } from '../../http/index.js'
import { isSpillwayError, SpillwayError } from '../../job/errors.js'
import { decodePayload } from '../../job/payload.js'
import type {
  Act,
  BulkRequest,
  Enqueued,
  NewJob,
  Operation,
  RetryOverrides,
  RetryRequest,
  Store,
} from '../../store/store.js'
import { orNothing, why } from './asking.js'
import { fromWire } from './from-wire.js'
import { remoteArchive } from './remote-archive.js'
import { remoteTriage } from './remote-triage.js'
import { remoteUpkeep } from './remote-upkeep.js'

/**
 * A store that is behind a server: what operators do goes over HTTP, and the rest is refused. Who acts is decided by the
 * server, from the token.
 */
export function remoteStore(api: ApiClient): Store {
  const inspecting: Partial<Store> = {
    async getJob(id, { payload = false } = {}) {
      const found = await orNothing(() =>
        api.getJob({ params: { id }, query: { include_payload: payload ? 'true' : 'false' } }),
      )
      if (found === undefined) return undefined
      return fromWire({ ...found, ...(found.payload === undefined ? {} : { payload_text: wireJson(found.payload) }) })
    },
    listJobs: async (filter, page) => fromWire(await api.listJobs({ query: { ...(filter as object), ...page } })),
    countJobs: async () => fromWire(await api.countJobs()),
    async listDlq({ ids, queues, state, ...filter }, page) {
      if (ids !== undefined || queues !== undefined) throw unsupported('listing by ids')
      const query = { ...(toWire(filter) as object), ...page }
      return fromWire(await api.listDlq({ query }))
    },
    countDlq: async ({ queue, kind, cause }) =>
      (await api.listDlq({ query: defined({ queue, kind, cause, limit: 1 }) })).total?.count ?? 0,
    dlqDepth: async (queue) => fromWire(await api.dlqDepth({ query: defined({ queue }) })),
    getQueue: async (queue) => fromWire(await api.getQueue({ params: { queue } })),
    listQueues: async () => fromWire<{ items: never[] }>(await api.listQueues()).items,
    unservedKinds: async () => fromWire<{ items: never[] }>(await api.unservedKinds()).items,
    listWorkers: async () => fromWire<{ items: never[] }>(await api.listWorkers()).items,
    dlqGroups: async (filter, page) => fromWire(await api.dlqGroups({ query: { ...filter, ...page } })),
    dlqHistory: async ({ since, ...filter }) =>
      fromWire<{ items: never[] }>(await api.dlqHistory({ query: { ...filter, since: since.toISOString() } })).items,
    removedJobs: async ({ since, ...filter }) =>
      fromWire<{ items: never[] }>(await api.removedJobs({ query: { ...filter, since: since.toISOString() } })).items,
    listAudit: async ({ since, ...filter }, page) =>
      fromWire(await api.listAudit({ query: defined({ ...filter, since: since?.toISOString(), ...page }) })),
    async payloadVersions(id) {
      const { items } = await api.jobPayloads({ params: { id } })
      return items.map((it) => fromWire({ ...it, payload: wireJson(it.payload) }))
    },
  }

  const operating: Partial<Store> = {
    retryJob: async (id, request, act) =>
      fromWire(
        await api.retryJob({
          params: { id },
          body: { ...overridesOf(request.overrides), ...termsOf(request), ...why(act) },
        }),
      ),
    cancelJob: async (id, act) => fromWire(await api.cancelJob({ params: { id }, body: why(act) })),
    promoteJob: async (id, act) => fromWire(await api.promoteJob({ params: { id }, body: why(act) })),
    rescheduleJob: async (id, runAt, act) =>
      fromWire(await api.rescheduleJob({ params: { id }, body: { run_at: runAt.toISOString(), ...why(act) } })),
    killJob: async (id, act) => fromWire(await api.killJob({ params: { id }, body: why(act) })),
    editJob: async (id, edit, act) => fromWire(await api.editJob({ params: { id }, body: { ...edit, ...why(act) } })),
    cloneJob: async (id, overrides, act) =>
      fromWire(await api.cloneJob({ params: { id }, body: { ...overridesOf(overrides), ...why(act) } })),
    setQueue: async (queue, patch, act) =>
      fromWire(await api.setQueue({ params: { queue }, body: { ...(toWire(patch) as object), ...why(act) } })),
    pauseQueue: async (queue, act) => fromWire(await api.pauseQueue({ params: { queue }, body: why(act) })),
    resumeQueue: async (queue, act) => fromWire(await api.resumeQueue({ params: { queue }, body: why(act) })),
    enqueue: async (jobs) => {
      const made: Enqueued[] = []
      for (const job of jobs) {
        made.push(fromWire(await api.enqueue({ body: enqueueBody(job) }, { idempotencyKey: randomUUID() })))
      }
      return made
    },
  }

  const bulk: Partial<Store> = {
    startOperation: async (request, act) =>
      fromWire(await api.bulkJobs({ body: bulkBody(request, act) }, { idempotencyKey: randomUUID() })),
    actOnIds: async (ids, { action, retry }, act) => {
      const terms = retry === undefined ? {} : { ...termsOf(retry), overrides: overridesOf(retry.overrides) }
      const body = { action, ids: [...ids], ...terms, ...why(act) }
      return fromWire(await api.actOnJobs({ body }, { idempotencyKey: randomUUID() }))
    },
    actOnOne: async (id, { action, anywhere = false }, act) => {
      try {
        const { operation = '' } = await one(action, id, act, anywhere)
        return { operation }
      } catch (error) {
        if (isSpillwayError(error) && REFUSALS.has(error.code)) return { refused: error.code }
        throw error
      }
    },
    // The server runs it; whoever steps here only follows.
    stepOperation: async (id) => ({ operation: fromWire(await api.getOperation({ params: { id } })), waitMs: null }),
    getOperation: async (id) => {
      const found = /^\d{1,19}$/.test(id) ? await orNothing(() => api.getOperation({ params: { id } })) : undefined
      return found && fromWire<Operation>(found)
    },
    listOperations: async (page) => fromWire(await api.listOperations({ query: page })),
    operationRows: async (id, page) => fromWire(await api.operationRows({ params: { id }, query: page })),
    pauseOperation: async (id, act) => fromWire(await api.pauseOperation({ params: { id }, body: why(act) })),
    resumeOperation: async (id, act) => fromWire(await api.resumeOperation({ params: { id }, body: why(act) })),
    cancelOperation: async (id, act) => fromWire(await api.cancelOperation({ params: { id }, body: why(act) })),
    setOperationRate: async (id, rate, maxWaiting, act) => {
      const body = defined({ rate, max_waiting: maxWaiting ?? undefined })
      return fromWire(await api.setOperationRate({ params: { id }, body: { ...body, ...why(act) } }))
    },
    undoOperation: async (id, act) => fromWire(await api.undoOperation({ params: { id }, body: why(act) })),
  }

  function one(
    action: BulkRequest['action'],
    id: string,
    act: Act,
    anywhere: boolean,
  ): Promise<{ readonly operation?: string | undefined }> {
    const params = { id }
    if (action === 'purge' && anywhere) return api.deleteJob({ params, query: why(act) })
    if (action === 'discard') return api.discardDlq({ params, body: why(act) })
    if (action === 'move') return api.moveDlq({ params, body: why(act) })
    if (action === 'purge') return api.deleteDlq({ params, query: why(act) })
    return api.retryDlq({ params, body: why(act) })
  }

  const held: Partial<Store> = {
    // The server checks, with what its workers publish.
    publishedSchema: () => Promise.resolve(undefined),
    listQuarantine: async (page) => fromWire(await api.listQuarantine({ query: page })),
    async getQuarantined(fingerprint, { payload = false } = {}) {
      const found = await orNothing(() =>
        api.getQuarantined({ params: { fingerprint }, query: { include_payload: payload ? 'true' : 'false' } }),
      )
      if (found === undefined) return undefined
      return fromWire({ ...found, ...(found.payload === undefined ? {} : { payload_text: wireJson(found.payload) }) })
    },
    releaseFingerprint: async (fingerprint, act) =>
      fromWire(await api.releaseQuarantined({ params: { fingerprint }, body: why(act) })),
    releaseCanary: async (fingerprint, act) =>
      fromWire(await api.releaseQuarantined({ params: { fingerprint }, body: { canary: true, ...why(act) } })),
    async releaseJobs(ids, act) {
      const done: string[] = []
      for (const id of ids) {
        const released = await orRefused(() => api.releaseJob({ params: { id }, body: why(act) }))
        if (released) done.push(id)
      }
      return { releaseId: '', released: done.length, ids: done }
    },
  }

  const access: Partial<Store> = {
    listTokens: async (page) => fromWire(await api.listTokens({ query: page })),
    revokeToken: async (id, act) => fromWire(await api.revokeToken({ params: { id }, query: why(act) })),
    maskedPaths: async () => fromWire<{ items: never[] }>(await api.listMasks()).items,
    maskPath: async (path, act) => (await api.addMask({ body: { path, ...why(act) } })).changed,
    unmaskPath: async (path, act) => (await api.removeMask({ params: { path }, query: why(act) })).changed,
  }

  const parts = { ...inspecting, ...operating, ...bulk, ...held, ...access }
  const others = { ...remoteTriage(api), ...remoteArchive(api), ...remoteUpkeep(api) }
  const store = { ...parts, ...others, close: () => Promise.resolve() }
  return new Proxy(store, {
    get: (target, name) => Reflect.get(target, name) ?? (() => Promise.reject(unsupported(String(name)))),
  }) as unknown as Store
}

const REFUSALS: ReadonlySet<string> = new Set(['not_found', 'invalid_state', 'job_moving'])

function unsupported(what: string): SpillwayError {
  return new SpillwayError('invalid_option', `this needs the database itself (${what}): leave --api out`)
}

/** False where it says why not; what is wrong besides is thrown. */
async function orRefused(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    if (isSpillwayError(error) && REFUSALS.has(error.code)) return false
    throw error
  }
}

function parsedOf(json: string): unknown {
  const read = decodePayload(json, { bigint: true })
  return read.ok ? read.value : null
}

function overridesOf({ queue, priority, runAt, maxAttempts, deadline, payload }: RetryOverrides) {
  return {
    ...defined({ queue, priority, max_attempts: maxAttempts }),
    ...defined({ run_at: runAt?.toISOString(), deadline: deadline?.toISOString() }),
    ...(payload === undefined ? {} : { payload: parsedOf(payload) }),
  }
}

function termsOf({ budget, onConflict, force }: RetryRequest) {
  return { budget, on_conflict: onConflict, force }
}

function bulkBody({ action, selector, retry, preview, ...pace }: BulkRequest, act: Act) {
  const { dryRun, rate, maxWaiting, canary, abortAbove, holdMs } = pace
  const { ids, queues, ...filters } = selector
  const wanted = {
    ...(toWire(filters) as object),
    ...(ids && { ids: [...ids] }),
    ...(queues && { queues: [...queues] }),
  }
  const ofRetry =
    retry === undefined
      ? {}
      : {
          ...{ max_waiting: maxWaiting, abort_above: abortAbove, hold: holdMs },
          ...{ ...termsOf(retry), overrides: overridesOf(retry.overrides) },
          ...defined({ canary: canary ?? undefined }),
        }
  return {
    action,
    dry_run: dryRun,
    ...(preview === null ? { selector: wanted } : { preview }),
    ...defined({ rate: rate ?? undefined }),
    ...ofRetry,
    ...why(act),
  }
}

function enqueueBody(job: NewJob) {
  const { queue, kind, version, payload, priority, maxAttempts, runAt, deadline, timeoutMs, uniqueKey, onConflict } =
    job
  return {
    ...{ queue, kind, version, priority, payload: parsedOf(payload), max_attempts: maxAttempts, timeout: timeoutMs },
    ...defined({ run_at: runAt?.toISOString(), deadline: deadline?.toISOString() }),
    ...(uniqueKey === null ? {} : { unique: { key: uniqueKey, on_conflict: onConflict } }),
    ...(job.tags === null ? {} : { tags: [...job.tags] }),
    ...(job.metadata === null ? {} : { metadata: parsedOf(job.metadata) }),
    ...(job.retention === null ? {} : { retention: parsedOf(job.retention) as object }),
    ...defined({ on_quarantine: job.onQuarantine }),
  }
}

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
