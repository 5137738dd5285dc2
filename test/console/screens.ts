import type { Given } from 'spillway/testing'
import type { Client } from '../../src/client/client.js'

const FINGERPRINT = 'ab'.repeat(16)

/**
 * Every screen by its name, on what an incident has made and on a little more that is made here.
 *
 * @param dead - The dead letter to look at; default: the newest.
 */
export async function screens(
  { given, client }: { given: Given; client: Client },
  dead?: string,
): Promise<Readonly<Record<string, string>>> {
  const id = dead ?? (await client.dlq.list({}, { limit: 1 })).items[0]?.id
  if (id === undefined) throw new Error('screens are looked at after an incident')
  await given.job({ state: 'quarantined', queue: 'thumbnails', kind: 'resize', fingerprint: FINGERPRINT })
  await given.job({ state: 'undecodable', queue: 'billing', kind: 'charge_card', version: 2 })
  const operation = await client.dlq.discardMany({ queue: 'email', reason: 'skipped' }, { reason: 'no such users' })
  await operation.done()
  return {
    Overview: '/',
    'Dead letters': '/dlq',
    'Dead letters of a cause': '/dlq?queue=billing&cause=gateway-timeout',
    'Dead letter': `/dlq/${id}`,
    Jobs: '/jobs',
    Job: `/jobs/${id}`,
    Held: '/held',
    Quarantined: `/held/${FINGERPRINT}`,
    Operations: '/operations',
    Operation: `/operations/${operation.id}`,
    Queues: '/queues',
    Queue: '/queues/billing',
    Workers: '/workers',
    Audit: '/audit',
    Archive: '/archive',
    Settings: '/settings',
  }
}
