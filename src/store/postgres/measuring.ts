import type { HorizonHolder, Measures } from '../store.js'
import type { Database } from './database.js'
import { dlqQueries } from './queries/dlq.js'
import {
  type FlowsDocument,
  type HorizonRow,
  measureQueries,
  type PlanesDocument,
  type StateDocument,
} from './queries/measure.js'
import { retainDeadQueries } from './queries/retain-dead.js'
import { triageQueries } from './queries/triage.js'

/** How long before dead letters leave somebody is warned. */
const SOON_MS = 3 * 86_400_000
const READ = { repeatable: true, patienceMs: 0 } as const

/** Reads everything worth watching, one statement after the other on one connection's worth of load. */
export function measuring(db: Database, schema: string): () => Promise<Measures> {
  const queries = measureQueries(schema)
  const { depth } = dlqQueries(schema)
  const { unreviewed } = triageQueries(schema)
  const { expiring } = retainDeadQueries(schema)

  async function document<T>(statement: (typeof queries)['flows']): Promise<T> {
    const [row] = await db.run(statement, [], READ)
    return JSON.parse(row![0]) as T
  }

  return async function measure(): Promise<Measures> {
    const { totals } = await document<FlowsDocument>(queries.flows)
    const { jobs } = await document<PlanesDocument>(queries.planes)
    const state = await document<StateDocument>(queries.state)
    const depths = await db.run(depth, [null], READ)
    const left = new Map((await db.run(unreviewed, [null], READ)).map(([queue, n]) => [queue, Number(n)]))
    const leaving = await db.run(expiring, [SOON_MS, null], READ)
    const horizon = await db.run(queries.horizon, [], READ)
    return {
      schemaVersion: state.version,
      totals: totals.map(([queue, kind, reason, what, n]) => ({ queue, kind, reason, what, n })),
      jobs: jobs.map(([queue, name, n]) => ({ queue, state: name, n })),
      unserved: state.unserved.map(([queue, kind, ms]) => ({ queue, kind, seconds: ms / 1_000 })),
      lag: jobs.flatMap(([queue, , , seconds]) => (seconds === null ? [] : [{ queue, seconds: Math.max(0, seconds) }])),
      dlq: depths.flatMap(([queue, n, oldestMs]) =>
        oldestMs === null ? [] : [dlqOf(queue, Number(n), left.get(queue) ?? 0, state.now - Number(oldestMs))],
      ),
      workers: state.workers.map(([queue, n]) => ({ queue, n })),
      pausedQueues: state.paused,
      dueLagSeconds: state.due_lag,
      duties: state.duties.map(dutyOf),
      isLed: state.led,
      rings: state.rings.map(([ring, usedSlots, bytes]) => ({ ring, usedSlots, bytes })),
      expiredLeases: state.expired,
      openOperations: state.operations,
      expiring: leaving.map(([queue, n, firstMs]) => ({ queue, n: Number(n), firstAt: new Date(Number(firstMs)) })),
      horizon: horizon.map(holderOf),
    }
  }
}

function dlqOf(queue: string, depth: number, unreviewed: number, oldestMs: number): Measures['dlq'][number] {
  return { queue, depth, unreviewed, oldestSeconds: Math.max(0, oldestMs) / 1_000 }
}

function dutyOf(row: StateDocument['duties'][number]): Measures['duties'][number] {
  const [duty, successMs, errorMs, lastError, pausedMs, pausedBy, pausedReason, underWaySeconds] = row
  return {
    ...{ duty, lastSuccessAt: dateOf(successMs), lastErrorAt: dateOf(errorMs), lastError },
    ...{ pausedAt: dateOf(pausedMs), pausedBy, pausedReason, underWaySeconds },
  }
}

function holderOf(row: HorizonRow): HorizonHolder {
  const [holder, name, pid, application, role, transactions, seconds, queryStartedMs] = row
  return {
    holder,
    name,
    pid: pid === null ? null : Number(pid),
    application: application === '' ? null : application,
    role,
    transactions: Number(transactions),
    seconds: seconds === null ? null : Math.max(0, Number(seconds)),
    queryStartedAt: queryStartedMs === null ? null : new Date(Number(queryStartedMs)),
  }
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
