import type { PolicyInput } from '../../client/queues.js'
import { acting, type Handlers } from '../call.js'
import type { queueRoutes } from '../contract/queues.js'
import { defined } from '../defined.js'
import { checkQueue, reaches } from '../scope.js'

export const queueHandlers: Handlers<keyof typeof queueRoutes> = {
  async listQueues(call) {
    const all = await call.once('queues', () => call.client.queues.list())
    return { items: all.filter(({ queue }) => reaches(call.principal, queue)) }
  },

  async unservedKinds(call) {
    const all = await call.once('unserved', () => call.client.queues.unserved())
    return { items: all.filter(({ queue }) => reaches(call.principal, queue)) }
  },

  async removedJobs(call, { query }) {
    checkQueue(call, query.queue)
    const all = await call.once(JSON.stringify(['removed', query]), () => call.client.queues.removed(defined(query)))
    return { items: all.filter(({ queue }) => reaches(call.principal, queue)) }
  },

  async getQueue(call, { params }) {
    checkQueue(call, params.queue)
    return call.client.queues.get(params.queue)
  },

  async setQueue(call, { params, body }) {
    checkQueue(call, params.queue)
    const { reason, ...patch } = body
    return call.client.queues.set(params.queue, defined(patch) as PolicyInput, acting(call, { reason }))
  },

  async pauseQueue(call, { params, body }) {
    checkQueue(call, params.queue)
    return call.client.queues.pause(params.queue, acting(call, body))
  },

  async resumeQueue(call, { params, body }) {
    checkQueue(call, params.queue)
    return call.client.queues.resume(params.queue, acting(call, body))
  },
}
