import { z } from 'zod'
import * as input from '../inputs.js'
import { route } from '../route.js'

/** What happens, as it happens. */
export const eventRoutes = {
  events: route({
    method: 'GET',
    path: '/events',
    tag: 'events',
    summary: 'Server-sent events: operations as they go on, and queues whose counts change.',
    right: 'read',
    query: z.strictObject({ queue: input.name.optional().describe('Only what is about this queue') }),
    answers: { 200: 'events' },
  }),
} as const
