import type { Handlers } from './call.js'
import type { RouteName } from './contract.js'
import { accessHandlers } from './handlers/access.js'
import { callbackHandlers } from './handlers/callbacks.js'
import { deadLetterHandlers } from './handlers/dead-letters.js'
import { eventHandlers } from './handlers/events.js'
import { heldHandlers } from './handlers/held.js'
import { jobHandlers } from './handlers/jobs.js'
import { operationHandlers } from './handlers/operations.js'
import { queueHandlers } from './handlers/queues.js'
import { serverHandlers } from './handlers/server.js'
import { webhookHandlers } from './handlers/webhooks.js'

/** What each route does. A route without a handler, or a handler without a route, does not compile. */
export const HANDLERS: Handlers<RouteName> = {
  ...jobHandlers,
  ...deadLetterHandlers,
  ...operationHandlers,
  ...queueHandlers,
  ...serverHandlers,
  ...accessHandlers,
  ...eventHandlers,
  ...callbackHandlers,
  ...webhookHandlers,
  ...heldHandlers,
}
