import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'triage'
const one = ['not_found', 'invalid_state', 'job_moving'] as const
const answers = { 200: answer.triage } as const

const clear = z.boolean().optional().describe('Takes it back')
const reason = input.reason.optional()
const ack = { clear, reason }
const note = { text: input.text(4_000).nullable().describe('null takes it away'), reason }
const mute = {
  until: z.union([input.time, input.duration]).nullable().describe('A time, or a duration from now; null ends it'),
  reason,
}
const resolve = { link: input.text(4_000).optional().describe('Where the fix is'), clear, reason }
/** A cause is one in a queue. */
const queue = { queue: input.name.describe('The queue of the cause') }

/** What people say about dead letters, and about their causes. */
export const triageRoutes = {
  dlqTriage: route({
    method: 'GET',
    path: '/dlq/{id}/triage',
    tag,
    summary: 'What was said about one dead letter by itself; null when nothing was.',
    right: 'read',
    answers: { 200: z.object({ triage: answer.triage.nullable() }) },
    errors: ['not_found'],
  }),
  ackDlq: route({
    method: 'POST',
    path: '/dlq/{id}/ack',
    tag,
    summary: 'Say that somebody has looked at a dead letter.',
    right: 'operate',
    body: z.strictObject(ack),
    bodyOptional: true,
    answers,
    errors: one,
  }),
  noteDlq: route({
    method: 'POST',
    path: '/dlq/{id}/note',
    tag,
    summary: 'Write down what was found out about a dead letter, in place of what is there.',
    right: 'operate',
    body: z.strictObject(note),
    answers,
    errors: one,
  }),
  muteDlq: route({
    method: 'POST',
    path: '/dlq/{id}/mute',
    tag,
    summary: 'Mark a dead letter as known noise for a while.',
    right: 'operate',
    body: z.strictObject(mute),
    answers,
    errors: one,
  }),
  resolveDlq: route({
    method: 'POST',
    path: '/dlq/{id}/resolve',
    tag,
    summary: 'Say that what killed it is fixed.',
    right: 'operate',
    body: z.strictObject(resolve),
    bodyOptional: true,
    answers,
    errors: one,
  }),
  ackCause: route({
    method: 'POST',
    path: '/dlq/causes/{cause}/ack',
    tag,
    summary: 'Say that somebody has looked at a cause in a queue: at its dead letters so far.',
    right: 'operate',
    body: z.strictObject({ ...queue, ...ack }),
    answers,
    errors: ['not_found'],
  }),
  noteCause: route({
    method: 'POST',
    path: '/dlq/causes/{cause}/note',
    tag,
    summary: 'Write down what was found out about a cause, in place of what is there.',
    right: 'operate',
    body: z.strictObject({ ...queue, ...note }),
    answers,
    errors: ['not_found'],
  }),
  muteCause: route({
    method: 'POST',
    path: '/dlq/causes/{cause}/mute',
    tag,
    summary: 'Mark a cause as known noise for a while, also for its deaths to come.',
    right: 'operate',
    body: z.strictObject({ ...queue, ...mute }),
    answers,
    errors: ['not_found'],
  }),
  resolveCause: route({
    method: 'POST',
    path: '/dlq/causes/{cause}/resolve',
    tag,
    summary: 'Say that a cause is fixed; if it kills again it shows as regressed.',
    right: 'operate',
    body: z.strictObject({ ...queue, ...resolve }),
    answers,
    errors: ['not_found'],
  }),
  unreviewedDlq: route({
    method: 'GET',
    path: '/dlq/unreviewed',
    tag,
    summary: 'Dead letters nobody has looked at, by queue.',
    right: 'read',
    query: z.strictObject({ queue: input.name.optional() }),
    answers: { 200: z.object({ items: z.array(answer.unreviewed) }) },
  }),
  expiringDlq: route({
    method: 'GET',
    path: '/dlq/expiring',
    tag,
    summary: 'Dead letters whose retention lapses soon, by queue; default within 7 days.',
    right: 'read',
    query: z.strictObject({
      within: z.string().regex(input.DURATION).optional().describe('As 12h or 7d'),
      queue: input.name.optional(),
    }),
    answers: { 200: z.object({ items: z.array(answer.expiring) }) },
  }),
  cappedDlq: route({
    method: 'GET',
    path: '/dlq/capped',
    tag,
    summary: 'Queues whose dead letters are capped, and how full they are.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.capped) }) },
  }),
} as const
