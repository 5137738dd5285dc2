import { accessRoutes } from './contract/access.js'
import { archiveRoutes } from './contract/archive.js'
import { callbackRoutes } from './contract/callbacks.js'
import { deadLetterRoutes } from './contract/dead-letters.js'
import { eventRoutes } from './contract/events.js'
import { heldRoutes } from './contract/held.js'
import { jobRoutes } from './contract/jobs.js'
import { operationRoutes } from './contract/operations.js'
import { queueRoutes } from './contract/queues.js'
import { serverRoutes } from './contract/server.js'
import { sessionRoutes } from './contract/session.js'
import { triageRoutes } from './contract/triage.js'
import { upkeepRoutes } from './contract/upkeep.js'
import { webhookRoutes } from './contract/webhooks.js'
import type { Route } from './route.js'

/**
 * Every operation of the API, once. Routing, checks, handler types, the OpenAPI document, the typed client, the reference
 * page, and the tests of rights, read-only mode and hostile input are all read off this table: a route is added here, and
 * gets a handler under the same name.
 */
export const CONTRACT = {
  ...jobRoutes,
  ...deadLetterRoutes,
  ...triageRoutes,
  ...operationRoutes,
  ...queueRoutes,
  ...serverRoutes,
  ...upkeepRoutes,
  ...archiveRoutes,
  ...sessionRoutes,
  ...accessRoutes,
  ...eventRoutes,
  ...callbackRoutes,
  ...webhookRoutes,
  ...heldRoutes,
} as const satisfies Record<string, Route>

export type Contract = typeof CONTRACT
export type RouteName = keyof Contract

/** What may be reached by everybody who has a token of a callback. */
export const CALLBACK_ROUTES = Object.entries(callbackRoutes) as unknown as readonly (readonly [RouteName, Route])[]

export const ROUTES = Object.entries(CONTRACT) as unknown as readonly (readonly [name: RouteName, route: Route])[]
