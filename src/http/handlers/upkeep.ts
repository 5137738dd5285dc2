import { acting, type Call, type Handlers } from '../call.js'
import type { upkeepRoutes } from '../contract/upkeep.js'
import { defined } from '../defined.js'
import { wholeStore } from '../scope.js'

export const upkeepHandlers: Handlers<keyof typeof upkeepRoutes> = {
  async listDuties(call) {
    return { items: (await call.once('duties', () => call.client.duties.list())).map((it) => shown(call, it)) }
  },

  async pauseDuty(call, { params, body }) {
    wholeStore(call)
    return shown(call, await call.client.duties.pause(params.duty, acting(call, body)))
  },

  async resumeDuty(call, { params, body }) {
    wholeStore(call)
    return shown(call, await call.client.duties.resume(params.duty, acting(call, body)))
  },

  async listRings(call) {
    return { items: await call.once('rings', () => call.client.rings.list()) }
  },

  async setRing(call, { params, body }) {
    wholeStore(call)
    const { rotate_rows: rotateRows, rotate_after: rotateAfter } = body
    return call.client.rings.set(params.ring, defined({ rotateRows, rotateAfter }), acting(call, body))
  },
}

type Duty = Awaited<ReturnType<Call['client']['duties']['list']>>[number]

function shown(call: Call, duty: Duty): Duty {
  return { ...duty, lastError: duty.lastError && call.views.masker.text(duty.lastError) }
}
