import { z } from 'zod'
import { RIGHTS } from '../../job/rights.js'
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
        read_only: z.boolean(),
        authentication: z.enum(['none', 'required']),
        actor: z.string().nullable(),
        rights: z.array(z.enum(RIGHTS)),
        queues: z.array(z.string()).nullable().describe('The only ones the caller sees; null is all'),
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
