import { SpillwayError } from '../../job/errors.js'
import { acting, type Call, type Handlers } from '../call.js'
import type { deadLetterRoutes } from '../contract/dead-letters.js'
import { defined } from '../defined.js'
import { streamedLines } from '../lines.js'
import { checkQueue, checkReach, jobFor, narrowed, reaches } from '../scope.js'
import { beginBulk, overridesOf } from './bulk.js'
import { showJob } from './jobs.js'
import { sharedPage } from './pages.js'
import { depthOf, totalOfDead } from './totals.js'
import { withinKeys } from './unique-keys.js'

export const deadLetterHandlers: Handlers<keyof typeof deadLetterRoutes> = {
  async listDlq(call, { query }) {
    const { limit, cursor, before_id: beforeId, before_dlq_at: beforeDlqAt, q, error = q, ...filter } = query
    const wanted = { ...narrowed(call, filter), error, beforeId, beforeDlqAt }
    if (beforeId !== undefined && beforeDlqAt === undefined) await checkReach(call, beforeId)
    const paging = { limit, cursor: cursor ?? beforeId }
    const page = await sharedPage(call, 'dlq', wanted, paging, () =>
      call.client.dlq.list(defined(wanted), { limit, cursor }),
    )
    return { ...page, items: page.items.map((job) => call.views.job(job)), total: await totalOfDead(call, wanted) }
  },

  async dlqDepth(call, { query }) {
    checkQueue(call, query.queue)
    const all = await depthOf(call)
    const queues = all.filter(
      ({ queue }) => reaches(call.principal, queue) && (query.queue === undefined || queue === query.queue),
    )
    return { total: queues.reduce((sum, { depth }) => sum + depth, 0), queues }
  },

  async dlqGroups(call, { query }) {
    const { limit, cursor, ...filter } = query
    const { queues, ...narrow } = narrowed(call, filter)
    const key = JSON.stringify(['groups', narrow, limit, cursor])
    const page = await call.once(key, async () => call.client.dlq.groups(defined(narrow), { limit, cursor }))
    const items = page.items.filter(({ queue }) => queues?.includes(queue) ?? true)
    return { ...page, items: items.map((it) => ({ ...it, title: it.title && call.views.masker.text(it.title) })) }
  },

  async dlqHistory(call, { query }) {
    const { queues, ...filter } = narrowed(call, query)
    if (queues === undefined) {
      const key = JSON.stringify(['history', filter])
      return { items: await call.once(key, () => call.client.dlq.history(filter)) }
    }
    const each = await Promise.all(queues.map((queue) => call.client.dlq.history({ ...filter, queue })))
    return { items: summed(each.flat()) }
  },

  async getDlq(call, { params, query }) {
    const job = await jobFor(call, params.id, { payload: false })
    if (job?.state !== 'archived') throw noDeadLetter(params.id)
    return showJob(call, params.id, query.include_payload === true)
  },

  async retryDlq(call, { params, body }) {
    checkQueue(call, body.queue)
    await checkReach(call, params.id)
    return withinKeys(call, body.on_conflict, (onConflict) =>
      call.client.dlq.retry(params.id, { ...overridesOf(body), ...defined({ onConflict }), ...acting(call, body) }),
    )
  },

  async discardDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return call.client.dlq.discard(params.id, acting(call, body))
  },

  async moveDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return call.client.dlq.move(params.id, acting(call, body))
  },

  async deleteDlq(call, { params, query }) {
    await checkReach(call, params.id)
    return call.client.dlq.purge(params.id, acting(call, query))
  },

  bulkRetryDlq: (call, { body }) => beginBulk(call, 'retry', body, 'dlq'),
  bulkDiscardDlq: (call, { body }) => beginBulk(call, 'discard', body, 'dlq'),
  bulkPurgeDlq: (call, { body }) => beginBulk(call, 'purge', body, 'dlq'),
  bulkMoveDlq: (call, { body }) => beginBulk(call, 'move', body, 'dlq'),

  async exportDlq(call, { body }) {
    const filter = defined(narrowed(call, body))
    const lines = call.client.dlq.export(filter)
    await call.client.audit.note('export', { selector: filter }, acting(call))
    return streamedLines(call, lines)
  },

  importDlq: (call, { query }) =>
    call.client.dlq.import(call.lines(), {
      ...acting(call, query),
      ...defined({ queues: call.principal.queues ?? undefined }),
    }),
}

type Flows = Awaited<ReturnType<Call['client']['dlq']['history']>>

/** The flows of several queues as one. */
function summed(flows: Flows): Flows {
  const byTime = new Map<number, Flows[number]>()
  for (const flow of flows) {
    const before = byTime.get(flow.at.getTime())
    byTime.set(flow.at.getTime(), before === undefined ? flow : added(before, flow))
  }
  return [...byTime.values()].sort((a, b) => a.at.getTime() - b.at.getTime())
}

function added(a: Flows[number], b: Flows[number]): Flows[number] {
  const sum = (x: Readonly<Record<string, number>>, y: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(x), ...Object.keys(y)])].map((key) => [key, (x[key] ?? 0) + (y[key] ?? 0)]),
    )
  return {
    at: a.at,
    arrived: a.arrived + b.arrived,
    departed: a.departed + b.departed,
    arrivedBy: sum(a.arrivedBy, b.arrivedBy),
    departedBy: sum(a.departedBy, b.departedBy),
  }
}

function noDeadLetter(id: string): SpillwayError {
  return new SpillwayError('not_found', `no dead letter ${id}; GET /jobs/${id} finds a job in any state`)
}
