import { DEFAULT_POLICY, patchedPolicy, type QueuePolicyPatch } from '../../job/policy.js'
import type { JobState } from '../../job/states.js'
import type { QueueActivity, RegisteredWorker, StoredQueue } from '../store.js'
import { dateOf } from './job-row.js'
import type { ActivityRow } from './queries/activity.js'
import type { QueueRow, WorkerRow } from './queries/queues.js'

type Counts = Readonly<Partial<Record<JobState, number>>>

/** A stored queue; what was never set has its default. */
export function queueOf(row: readonly [...QueueRow, ...unknown[]]): StoredQueue {
  const [queue, dlqEnabled, retention, policy, pausedAt, pausedBy, pausedReason, updatedAt] = row
  const patch = {
    ...JSON.parse(policy),
    retention: JSON.parse(retention),
    dlqEnabled: dlqEnabled === 't',
  } as QueuePolicyPatch
  return {
    queue,
    policy: patchedPolicy(DEFAULT_POLICY, patch),
    pausedAt: dateOf(pausedAt),
    pausedBy,
    pausedReason,
    updatedAt: dateOf(updatedAt),
  }
}

/** A queue nobody has set anything on. */
export function unsetQueue(queue: string): StoredQueue {
  return { queue, policy: DEFAULT_POLICY, pausedAt: null, pausedBy: null, pausedReason: null, updatedAt: null }
}

export function countsByQueue(rows: readonly [queue: string, state: string, n: string][]): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Record<string, number>>()
  for (const [queue, state, n] of rows) {
    const known = counts.get(queue) ?? {}
    known[state] = Number(n)
    counts.set(queue, known)
  }
  return counts
}

/** Nothing waits, and nothing completes. */
export const IDLE: QueueActivity = { oldestAt: null, completedPerMinute: 0 }

export function activityByQueue(rows: readonly ActivityRow[]): ReadonlyMap<string, QueueActivity> {
  return new Map(
    rows.map(([queue, oldestAt, completed]) => [
      queue,
      { oldestAt: dateOf(oldestAt), completedPerMinute: Number(completed) },
    ]),
  )
}

export function workerOf(row: WorkerRow): RegisteredWorker {
  const [registration, name, host, pid, state, queues, kinds, concurrency, running, startedAt, heartbeatAt] = row
  return {
    registration,
    name,
    host,
    pid: Number(pid),
    state,
    queues: JSON.parse(queues) as string[],
    kinds: JSON.parse(kinds) as string[],
    concurrency: Number(concurrency),
    running: Number(running),
    startedAt: dateOf(startedAt) as Date,
    heartbeatAt: dateOf(heartbeatAt) as Date,
  }
}
