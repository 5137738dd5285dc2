import { SpillwayError } from '../../job/errors.js'
import { acting, type Call, type Handlers, need } from '../call.js'
import type { archiveRoutes } from '../contract/archive.js'
import { defined } from '../defined.js'
import { streamedLines } from '../lines.js'
import { oneQueue, reaches, wholeStore } from '../scope.js'

export const archiveHandlers: Handlers<keyof typeof archiveRoutes> = {
  async listArchive(call, { query }) {
    const { limit, cursor, q, error = q, ...filter } = query
    const wanted = defined({ ...filter, error, queue: oneQueue(call, filter.queue) })
    const page = await call.client.archive.list(wanted, { limit, cursor })
    return { ...page, items: page.items.map((job) => call.views.job(job)) }
  },

  async archiveMonths(call) {
    wholeStore(call)
    return { items: await call.client.archive.months() }
  },

  async exportArchive(call, { query }) {
    const filter = defined({ ...query, queue: oneQueue(call, query.queue) })
    const lines = call.client.archive.export(filter)
    await call.client.audit.note('export_archive', { selector: filter }, acting(call))
    return streamedLines(call, lines)
  },

  async getArchived(call, { params, query }) {
    const isWhole = query.include_payload === true
    if (isWhole) need(call, 'payload:read')
    const { payload: _, payloadText: __, ...job } = await found(call, params.id)
    if (!isWhole) return call.views.job(job)
    await call.client.audit.note('reveal_payload', { id: params.id, archived: true }, acting(call))
    return call.views.job(await found(call, params.id))
  },

  async restoreArchived(call, { params, body }) {
    if (call.principal.queues !== null) await found(call, params.id)
    return call.client.archive.restore(params.id, acting(call, body))
  },

  async pruneArchive(call, { body }) {
    wholeStore(call)
    return call.client.archive.prune(body.month, acting(call, body))
  },
}

/** @throws `not_found`, also where it was in a queue that the caller does not reach. */
async function found(call: Call, id: string) {
  const job = await call.client.archive.get(id)
  if (job !== undefined && reaches(call.principal, job.queue)) return job
  throw new SpillwayError('not_found', `no archived job ${id}; GET /jobs/${id} finds a job that is not archived`)
}
