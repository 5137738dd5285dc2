import type { Given } from 'spillway/testing'
import type { HistoryEntry } from '../../src/job/history.js'

const MINUTE_MS = 60_000

/** What a stack of an application looks like: its own frames between those of others. */
export const STACK = [
  'GatewayTimeout: payment gateway did not answer within 30 s',
  '    at chargeCard (/srv/app/src/billing/charge-card.ts:41:11)',
  '    at fetch (/srv/app/node_modules/undici/index.js:112:13)',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
].join('\n')

const BASE = { startedAt: null, attempt: 0, generation: 0, leaseId: null, worker: null }

/** A history in which every kind of thing has happened: two lives, a crash, an edit, a retry and what an undo leaves. */
export function longHistory(now = Date.now()): readonly HistoryEntry[] {
  const at = (minutesAgo: number) => new Date(now - minutesAgo * MINUTE_MS)
  const ran = (minutesAgo: number) => ({
    ...BASE,
    at: at(minutesAgo),
    startedAt: at(minutesAgo + 1),
    worker: 'billing-7',
  })
  const failed = { name: 'GatewayTimeout', message: 'payment gateway did not answer within 30 s', code: 'ETIMEDOUT' }
  const cause = [{ name: 'SocketError', message: 'other side closed', stack: null, code: 'UND_ERR_SOCKET' }]
  return [
    { ...ran(600), ...failed, type: 'error', stack: STACK, cause: [], truncated: false },
    { ...ran(540), attempt: 1, type: 'crash', lastHeartbeatAt: at(541) },
    { ...BASE, at: at(500), type: 'killed', by: 'kim', why: 'the gateway is down', reason: 'gateway_down' },
    {
      ...{ ...BASE, at: at(400), type: 'retried', by: 'kim', why: 'the gateway is back', operation: '7' },
      ...{ reason: 'gateway_down', dlqAt: at(500), originalRunLease: 2 },
    },
    { ...BASE, at: at(390), generation: 1, type: 'undone', by: 'kim', why: 'too early', operation: '8' },
    {
      ...BASE,
      at: at(380),
      generation: 1,
      type: 'edited',
      by: 'lee',
      why: 'in cents',
      changed: ['payload'],
      version: 2,
    },
    { ...ran(12), ...failed, generation: 1, type: 'error', stack: STACK, cause, truncated: false },
  ] as readonly HistoryEntry[]
}

/** One death of the billing queue with a long history, and two others of its cause; its id first. */
export async function aDeath(given: Given): Promise<readonly [id: string, newer: string, older: string]> {
  const dead = {
    state: 'archived',
    ...{ queue: 'billing', kind: 'charge_card', cause: 'gateway-timeout' },
    ...{ errorClass: 'GatewayTimeout', errorMessage: 'payment gateway did not answer within 30 s' },
    ...{ attempt: 5, maxAttempts: 5, generation: 1 },
  } as const
  const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * MINUTE_MS)
  const older = await given.job({ ...dead, dlqAt: at(30) })
  const one = await given.job({
    ...{ ...dead, dlqAt: at(12), history: longHistory(), tags: ['vip'], uniqueKey: 'order-1041' },
    payload: { order: 1041, amount: '12.50', card: { password: 'hunter2' }, note: '<img src=x onerror=alert(1)>' },
  })
  const newer = await given.job({ ...dead, dlqAt: at(2) })
  return [one.id, newer.id, older.id]
}
