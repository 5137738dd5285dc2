import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../job/event-types.js'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'events'
const kept = z.object({ retention_ms: z.number().int().min(0) })

/** What happens, as it happens, and what has happened. */
export const eventRoutes = {
  events: route({
    method: 'GET',
    path: '/events',
    tag,
    summary:
      'Server-sent events: what happened to jobs (with ids; Last-Event-ID goes on from there), operations as they go on, and queues whose counts change.',
    right: 'read',
    query: z.strictObject({
      queue: input.name.optional().describe('Only what is about this queue'),
      after: input.jobId.optional().describe('The id of the last event seen; Last-Event-ID has the word before it'),
    }),
    answers: { 200: 'events' },
  }),
  eventRetention: route({
    method: 'GET',
    path: '/events/retention',
    tag,
    summary: 'How long events are kept.',
    right: 'read',
    answers: { 200: kept },
  }),
  setEventRetention: route({
    method: 'PATCH',
    path: '/events/retention',
    tag,
    summary: 'Keep events for so long.',
    right: 'admin',
    body: z.strictObject({ retention: input.duration.describe('As 30d'), reason: input.reason.optional() }),
    answers: { 200: kept },
  }),
  listEvents: route({
    method: 'GET',
    path: '/events/log',
    tag,
    summary: 'What happened to jobs, in one order that never changes, oldest first, or behind `after`.',
    right: 'read',
    query: z.strictObject({
      after: input.jobId.optional().describe('A position: only what is behind it'),
      type: z.enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]).optional(),
      queue: input.name.optional(),
      kind: input.name.optional(),
      limit: input.paging.limit,
    }),
    answers: { 200: answer.page(answer.event) },
  }),
} as const
