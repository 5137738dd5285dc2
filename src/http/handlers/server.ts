import type { Call, Handlers } from '../call.js'
import type { serverRoutes } from '../contract/server.js'
import { defined } from '../defined.js'
import { reaches } from '../scope.js'
import { sharedPage } from './pages.js'
import { callerOf } from './session.js'

export const serverHandlers: Handlers<keyof typeof serverRoutes> = {
  async meta(call) {
    return { version: call.server.version, ...callerOf(call, call.principal) }
  },

  async listWorkers(call) {
    const all = await call.once('workers', () => call.client.workers.list())
    return { items: all.filter(({ queues }) => queues.some((queue) => reaches(call.principal, queue))) }
  },

  async listAudit(call, { query }) {
    const { limit, cursor, ...filter } = query
    const paging = { limit, cursor }
    const page = await sharedPage(call, 'audit', filter, paging, () => call.client.audit.list(defined(filter), paging))
    const items = page.items.filter((it) => seesEntry(call, it))
    return { ...page, items: items.map((it) => ({ ...it, reason: it.reason && call.views.masker.text(it.reason) })) }
  },
}

/** Their own deeds, and what names a queue they reach. */
function seesEntry(
  { principal }: Call,
  { actor, target }: { readonly actor: string; readonly target: unknown },
): boolean {
  if (principal.queues === null || actor === principal.actor) return true
  if (typeof target !== 'object' || target === null) return false
  const { queue, selector } = target as { queue?: unknown; selector?: { queue?: unknown } }
  const named = queue ?? selector?.queue
  return typeof named === 'string' && reaches(principal, named)
}
