import type { WebhookChanges } from '../../client/webhooks.js'
import { SpillwayError } from '../../job/errors.js'
import { Answered, acting, type Handlers } from '../call.js'
import type { webhookRoutes } from '../contract/webhooks.js'
import { defined } from '../defined.js'
import { wholeStore } from '../scope.js'

export const webhookHandlers: Handlers<keyof typeof webhookRoutes> = {
  async listWebhooks(call) {
    wholeStore(call)
    return { items: await call.client.webhooks.list() }
  },

  async createWebhook(call, { body }) {
    wholeStore(call)
    const { reason, digest_events: digestEvents, ...settings } = body
    const made = await call.client.webhooks.create({ ...settings, digestEvents }, acting(call, { reason }))
    return new Answered(201, made, { ...made, secret: null })
  },

  async getWebhook(call, { params }) {
    wholeStore(call)
    const webhook = await call.client.webhooks.get(params.id)
    if (webhook === undefined) throw noWebhook(params.id)
    return webhook
  },

  async updateWebhook(call, { params, body }) {
    wholeStore(call)
    const { reason, digest_events: digestEvents, rotate_secret: rotateSecret, ...settings } = body
    const changes = defined({ ...settings, digestEvents, rotateSecret }) as WebhookChanges
    const changed = await call.client.webhooks.update(params.id, changes, acting(call, { reason }))
    return 'secret' in changed ? new Answered(200, changed, { ...changed, secret: null }) : changed
  },

  async deleteWebhook(call, { params, query }) {
    wholeStore(call)
    await call.client.webhooks.delete(params.id, acting(call, query))
    return { id: params.id, state: 'gone', changed: true }
  },

  async testWebhook(call, { params, body }) {
    wholeStore(call)
    return call.client.webhooks.test(params.id, acting(call, body))
  },

  async listDeliveries(call, { query }) {
    wholeStore(call)
    const { webhook_id: webhookId, state, limit, cursor } = query
    return call.client.webhooks.deliveries(defined({ webhookId, state }), { limit, cursor })
  },

  async redeliver(call, { params, body }) {
    wholeStore(call)
    return call.client.webhooks.redeliver(params.id, acting(call, body))
  },
}

function noWebhook(id: string): SpillwayError {
  return new SpillwayError('not_found', `cannot find webhook ${id}; GET /webhooks lists them`)
}
