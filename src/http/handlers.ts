import type { Handlers } from './call.js'
import type { RouteName } from './contract.js'
import { accessHandlers } from './handlers/access.js'
import { archiveHandlers } from './handlers/archive.js'
import { callbackHandlers } from './handlers/callbacks.js'
import { deadLetterHandlers } from './handlers/dead-letters.js'
import { eventHandlers } from './handlers/events.js'
import { heldHandlers } from './handlers/held.js'
import { jobHandlers } from './handlers/jobs.js'
import { operationHandlers } from './handlers/operations.js'
import { queueHandlers } from './handlers/queues.js'
import { serverHandlers } from './handlers/server.js'
import { sessionHandlers } from './handlers/session.js'
import { triageHandlers } from './handlers/triage.js'
import { upkeepHandlers } from './handlers/upkeep.js'
import { webhookHandlers } from './handlers/webhooks.js'

/** What each route does. A route without a handler, or a handler without a route, does not compile. */
export const HANDLERS: Handlers<RouteName> = {
  ...jobHandlers,
  ...deadLetterHandlers,
  ...triageHandlers,
  ...operationHandlers,
  ...queueHandlers,
  ...serverHandlers,
  ...upkeepHandlers,
  ...archiveHandlers,
  ...sessionHandlers,
  ...accessHandlers,
  ...eventHandlers,
  ...callbackHandlers,
  ...webhookHandlers,
  ...heldHandlers,
}
