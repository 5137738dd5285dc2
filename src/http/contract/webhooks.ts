import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../job/event-types.js'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'webhooks'
const types = z.enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]])
const names = z.array(input.name).min(1).max(100).nullable().optional()

const settings = {
  description: input.name.nullable().optional(),
  types: z.array(types).min(1).max(20).nullable().optional().describe('Default: every type'),
  queues: names,
  kinds: names,
  reasons: names.describe('dlq reasons'),
  digest: input.duration.nullable().optional().describe('One request for all events of this time'),
  digest_events: z.number().int().min(0).max(100).optional(),
}
const url = input.text(2_000).describe('https://… or http://…; its host must have public addresses only')

/** Requests to urls of the user's, for what the event log tells of. */
export const webhookRoutes = {
  listWebhooks: route({
    method: 'GET',
    path: '/webhooks',
    tag,
    summary: 'Every webhook, oldest first; of its secrets the last characters.',
    right: 'admin',
    answers: { 200: z.object({ items: z.array(answer.webhook) }) },
  }),
  createWebhook: route({
    method: 'POST',
    path: '/webhooks',
    tag,
    summary:
      'Be told of what happens from now on. The secret stands in this answer only; a repeated request answers without it.',
    right: 'admin',
    body: z.strictObject({ url, ...settings, reason: input.reason.optional() }),
    answers: { 201: answer.webhook.extend({ secret: z.string().nullable() }) },
  }),
  getWebhook: route({
    method: 'GET',
    path: '/webhooks/{id}',
    tag,
    summary: 'One webhook, and how it stands.',
    right: 'admin',
    answers: { 200: answer.webhook },
    errors: ['not_found'],
  }),
  updateWebhook: route({
    method: 'PATCH',
    path: '/webhooks/{id}',
    tag,
    summary:
      'Change what is named; `paused` false lets one go on; `rotate_secret` makes a new secret beside the old one.',
    right: 'admin',
    body: z.strictObject({
      url: url.optional(),
      ...settings,
      paused: z.boolean().optional(),
      rotate_secret: z.union([z.literal(true), input.duration]).optional(),
      reason: input.reason.optional(),
    }),
    answers: { 200: answer.webhook.extend({ secret: z.string().nullable().optional() }) },
    errors: ['not_found'],
  }),
  deleteWebhook: route({
    method: 'DELETE',
    path: '/webhooks/{id}',
    tag,
    summary: 'Remove it with its deliveries; nothing more is sent.',
    right: 'admin',
    query: input.because,
    answers: { 200: z.object({ id: z.string(), state: z.literal('gone'), changed: z.boolean() }) },
    errors: ['not_found'],
  }),
  testWebhook: route({
    method: 'POST',
    path: '/webhooks/{id}/test',
    tag,
    summary: 'Send a message of type test now, also while it is paused.',
    right: 'admin',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.delivery },
    errors: ['not_found'],
  }),
  listDeliveries: route({
    method: 'GET',
    path: '/webhooks/deliveries',
    tag,
    summary: 'What was sent or is to be sent, newest first.',
    right: 'admin',
    query: z.strictObject({
      webhook_id: input.jobId.optional(),
      state: z.enum(['pending', 'delivered', 'dead']).optional(),
      ...input.paging,
    }),
    answers: { 200: answer.page(answer.delivery) },
    errors: ['not_found'],
  }),
  redeliver: route({
    method: 'POST',
    path: '/webhooks/deliveries/{id}/redeliver',
    tag,
    summary: 'Send a delivery once more, under the same message id.',
    right: 'admin',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.delivery },
    errors: ['not_found'],
  }),
} as const
