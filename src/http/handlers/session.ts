import { roleOf } from '../../job/rights.js'
import { Answered, type Call, type Handlers, type Principal } from '../call.js'
import type { sessionRoutes } from '../contract/session.js'

export const sessionHandlers: Handlers<keyof typeof sessionRoutes> = {
  async getSession(call) {
    return callerOf(call, call.principal)
  },

  async signIn(call, { body }) {
    const { principal, cookie } = await call.door.signIn(body.token)
    const shown = callerOf(call, principal)
    return new Answered(200, shown, shown, { 'set-cookie': cookie })
  },

  async signOut(call) {
    const left = { signedIn: false }
    return new Answered(200, left, left, { 'set-cookie': await call.door.signOut() })
  },
}

/** What somebody is told about themselves. A stranger has no rights at all. */
export function callerOf({ server }: Pick<Call, 'server'>, principal: Principal): object {
  const { actor, rights, queues, sessionExpiresAt: expiresAt = null } = principal
  return {
    authentication: server.isOpen ? 'none' : 'required',
    sessions: server.takesSessions,
    readOnly: server.isReadOnly,
    signedIn: rights.length > 0,
    actor,
    role: roleOf(rights),
    rights,
    queues,
    expiresAt,
  }
}
