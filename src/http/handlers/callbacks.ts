import type { Handlers } from '../call.js'
import type { callbackRoutes } from '../contract/callbacks.js'

export const callbackHandlers: Handlers<keyof typeof callbackRoutes> = {
  completeCallback: ({ client }, { params, body }) => client.callbacks.complete(params.token, body.value ?? null),
  failCallback: ({ client }, { params, body }) => client.callbacks.fail(params.token, body.error),
  heartbeatCallback: ({ client }, { params, body }) => client.callbacks.heartbeat(params.token, body),
}
