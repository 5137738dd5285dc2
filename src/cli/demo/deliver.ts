import { defineJob, type JobHandler, rateLimited, skip } from '../../index.js'
import type { Delivery } from './deliveries.js'

/** Delivers one webhook: a job such as anybody has who calls somebody else's server. */
export const deliverWebhook = defineJob<Delivery>({
  kind: 'deliver_webhook',
  queue: 'webhooks',
  maxAttempts: 3,
  timeout: 400,
  backoff: (attempt) => 100 * 2 ** attempt,
})

class ReceiverFailed extends Error {
  override name = 'ReceiverFailed'
}

/** Posts the delivery to `url`. What cannot succeed is skipped at once; everything else is tried again. */
export function delivering(url: string): JobHandler {
  return deliverWebhook.handle(async ({ event, body }, { signal, job }) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-job': job.id, 'x-event': event },
      body: JSON.stringify(body),
      signal,
    })
    if (response.status === 410) return skip('endpoint_gone', { url, event })
    if (response.status === 429) return rateLimited('50ms')
    if (!response.ok) {
      const said = (await response.text()).slice(0, 200)
      throw new ReceiverFailed(`the receiver answered ${response.status}${said ? `: ${said}` : ''}`)
    }
    return (await response.json()) as { received: boolean }
  })
}
