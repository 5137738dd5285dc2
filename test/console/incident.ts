import type { Given } from 'spillway/testing'
import type { Client } from '../../src/client/client.js'

const HOUR_MS = 3_600_000

/** An ordinary bad morning: a gateway that times out, a mail server that refuses, a queue that waits and nobody works on. */
export async function incident(given: Given, client: Client): Promise<void> {
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS)
  const dead = { state: 'archived', attempt: 5, maxAttempts: 5 } as const
  await given.jobs(40, {
    ...{ ...dead, queue: 'billing', kind: 'charge_card', cause: 'gateway-timeout', dlqAt: ago(0.2) },
    ...{ errorClass: 'GatewayTimeout', errorMessage: 'payment gateway did not answer within 30 s' },
  })
  await given.jobs(7, {
    ...{ ...dead, queue: 'email', kind: 'send_receipt', cause: 'smtp-refused', dlqAt: ago(5), generation: 1 },
    ...{ errorClass: 'SmtpError', errorMessage: '550 5.1.1 <nobody@example.com>: recipient address rejected' },
  })
  await given.jobs(2, {
    ...{ ...dead, queue: 'email', kind: 'send_receipt', cause: 'skipped', dlqReason: 'skipped', dlqAt: ago(30) },
    ...{ errorClass: null, errorMessage: null },
  })
  await given.jobs(25, { state: 'available', queue: 'thumbnails', kind: 'resize' })
  await given.jobs(3, { state: 'completed', queue: 'billing', kind: 'charge_card' })
  await given.worker({ queues: ['billing', 'email'], kinds: ['charge_card@1', 'send_receipt@1'], concurrency: 20 })
  await client.queues.pause('email', { reason: 'the mail server is being moved' })
}
