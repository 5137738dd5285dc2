import type { Given } from 'spillway/testing'
import type { Client } from '../../src/client/client.js'

/** Every screen by its name, on what {@link incident} has made and on a little more that is made here. */
export async function screens({ given, client }: { given: Given; client: Client }): Promise<Record<string, string>> {
  const { items } = await client.dlq.list({ limit: 1 })
  const id = items[0]?.id
  if (id === undefined) throw new Error('screens are looked at after an incident')
  await given.job({ state: 'quarantined', queue: 'thumbnails', kind: 'resize', fingerprint: 'ab'.repeat(16) })
  await given.job({ state: 'undecodable', queue: 'billing', kind: 'charge_card', version: 2 })
  const operation = await client.dlq.retryMany({ queue: 'email' }, { dryRun: true })
  return {
    Overview: '/',
    'Dead letters': '/dlq',
    'Dead letters of a cause': '/dlq?queue=billing&cause=gateway-timeout',
    'Dead letter': `/dlq/${id}`,
    Jobs: '/jobs',
    Job: `/jobs/${id}`,
    Held: '/held',
    Quarantined: `/held/${'ab'.repeat(16)}`,
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
