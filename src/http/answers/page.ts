import { z } from 'zod'
import { count } from './values.js'

/** How many rows there are in all. `estimate` says that the number is an upper bound and not counted exactly. */
export const total = z.object({ count, estimate: z.boolean() })

export function page<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    cursor: z.string().nullable(),
    partial: z.boolean().optional().describe('The search stopped early; the cursor goes on'),
    total: total.optional(),
  })
}
