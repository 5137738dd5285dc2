import { SpillwayError } from '../../job/errors.js'
import { HIDDEN_KEYS } from '../../job/mask.js'
import { rightsOf } from '../../job/rights.js'
import { Answered, acting, type Handlers } from '../call.js'
import type { accessRoutes } from '../contract/access.js'
import { wholeStore } from '../scope.js'

export const accessHandlers: Handlers<keyof typeof accessRoutes> = {
  listTokens(call, { query }) {
    wholeStore(call)
    return Promise.resolve(call.client.tokens.list(query))
  },

  async createToken(call, { body }) {
    wholeStore(call)
    const { name, role = body.rights === undefined ? 'viewer' : undefined, rights = [], queues } = body
    const more = rightsOf(role, rights).find((right) => !call.principal.rights.includes(right))
    if (more !== undefined) {
      throw new SpillwayError('forbidden', `cannot grant ${more} as ${call.principal.actor}: it is not theirs`)
    }
    const wanted = { name, role, rights, queues, expiresIn: body.expires_in }
    const made = await call.client.tokens.create({ ...wanted, ...acting(call, body) })
    // The secret is not kept with the answers, where it would lie readable for a day.
    return new Answered(201, made, { ...made, secret: null })
  },

  async revokeToken(call, { params, query }) {
    wholeStore(call)
    return call.client.tokens.revoke(params.id, acting(call, query))
  },

  async listMasks(call) {
    return { items: await call.client.masking.list(), byServer: call.server.masks, keys: HIDDEN_KEYS }
  },

  async addMask(call, { body }) {
    wholeStore(call)
    return { path: body.path, changed: await call.client.masking.add(body.path, acting(call, body)) }
  },

  async removeMask(call, { params, query }) {
    wholeStore(call)
    await call.client.masking.remove(params.path, acting(call, query))
    return { path: params.path, changed: true }
  },
}
