import { z } from 'zod'

/** RFC 9457. */
export const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe('Stable; docs/reference/errors.md lists all'),
    detail: z.string(),
    instance: z.string().describe('Id of the request'),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' })
