import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'server'

/** Workers, the audit log, and what the server says about itself. */
export const serverRoutes = {
  meta: route({
    method: 'GET',
    path: '/meta',
    tag,
    summary: 'The version, what the caller may do, and how the server is set up.',
    right: 'none',
    answers: {
      200: z.object({
        version: z.string(),
        ...answer.caller.shape,
      }),
    },
  }),
  listWorkers: route({
    method: 'GET',
    path: '/workers',
    tag,
    summary: 'The processes that run jobs, and when they were last heard.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.worker) }) },
  }),
  listAudit: route({
    method: 'GET',
    path: '/audit',
    tag,
    summary: 'Who did what, newest first.',
    right: 'read',
    query: z.strictObject({
      action: input.name.optional(),
      actor: input.name.optional(),
      since: input.time.optional(),
      ...input.paging,
    }),
    answers: { 200: answer.page(answer.auditEntry) },
  }),
} as const
