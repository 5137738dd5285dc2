import { defineJob, type JobHandler } from '../../index.js'
import type { Delivery } from './deliveries.js'

/** Reads a webhook: with one of them, as it happens, the library that reads it takes the process down. */
export const parseWebhook = defineJob<Delivery & { readonly poison?: true }>({
  kind: 'parse_webhook',
  queue: 'parsers',
  maxAttempts: 5,
})

/** @param isFixed - Whether the library was updated. */
export function parsing(isFixed: boolean): JobHandler {
  return parseWebhook.handle(async ({ event, body, poison }) => {
    // Long enough for those beside it to be running when the process goes.
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (poison && !isFixed) process.kill(process.pid, 'SIGKILL')
    return { event, bytes: JSON.stringify(body).length }
  })
}
