import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'callbacks'
const errors = ['callback_not_found', 'callback_settled', 'callback_gone'] as const

/** What jobs wait for, answered by whoever has the token; it gives no other right. */
export const callbackRoutes = {
  completeCallback: route({
    method: 'POST',
    path: '/callbacks/{token}/complete',
    tag,
    summary: 'Answer with a value: the job that waits goes on with it. The token in the path is all it needs.',
    right: 'none',
    body: z.strictObject({ value: z.unknown().optional().describe('Any JSON, at most 64 KiB; default null') }),
    bodyOptional: true,
    answers: { 200: answer.answered },
    errors: [...errors, 'payload_refused', 'payload_too_large'],
  }),
  failCallback: route({
    method: 'POST',
    path: '/callbacks/{token}/fail',
    tag,
    summary: 'Answer with a failure: the attempt that waits has failed.',
    right: 'none',
    body: z.strictObject({
      error: z
        .union([
          input.text(8_000),
          z.strictObject({
            name: input.name.optional(),
            message: input.text(8_000),
            code: input.name.optional(),
          }),
        ])
        .optional(),
    }),
    bodyOptional: true,
    answers: { 200: answer.answered },
    errors,
  }),
  heartbeatCallback: route({
    method: 'POST',
    path: '/callbacks/{token}/heartbeat',
    tag,
    summary: 'Move its time-out further away, never nearer; default the time it was made with.',
    right: 'none',
    body: z.strictObject({ timeout: input.duration.optional() }),
    bodyOptional: true,
    answers: { 200: answer.extended },
    errors,
  }),
} as const
