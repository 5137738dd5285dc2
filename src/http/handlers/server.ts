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
    const items = all.map((it) => ({ ...it, queues: it.queues.filter((queue) => reaches(call.principal, queue)) }))
    return { items: items.filter(({ queues }) => queues.length > 0) }
  },

  async listAudit(call, { query }) {
    const { limit, cursor, ...filter } = query
    const paging = { limit, cursor }
    const page = await sharedPage(call, 'audit', filter, paging, () => call.client.audit.list(defined(filter), paging))
    const items = page.items.filter((it) => seesEntry(call, it))
    return { ...page, items: items.map((it) => ({ ...it, reason: it.reason && call.views.masker.text(it.reason) })) }
  },
}

/** What names queues they reach, and where none is named their own deeds. */
function seesEntry(
  { principal }: Call,
  { actor, target }: { readonly actor: string; readonly target: unknown },
): boolean {
  if (principal.queues === null) return true
  const { queue, selector } = (target ?? {}) as { queue?: unknown; selector?: Record<string, unknown> }
  const named = [queue ?? selector?.['queue'] ?? selector?.['queues'] ?? []].flat()
  // A selector without queues is about all of them, unless it names jobs.
  if (named.length === 0) return actor === principal.actor && (selector === undefined || selector['ids'] !== undefined)
  return named.every((it) => typeof it === 'string' && reaches(principal, it))
}
