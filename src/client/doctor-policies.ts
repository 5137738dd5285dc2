import type { StoredQueue, TableDiagnosis } from '../store/store.js'
import type { Finding } from './doctor.js'

const DAY_MS = 86_400_000
/** More than a pause of a day or so usually leaves behind. */
const MANY = 10_000

/** Settings that are allowed and are seldom what was meant. */
export function policyFindings({ queues }: TableDiagnosis, now: Date): Finding[] {
  return queues.flatMap((queue) => RULES.flatMap((rule) => rule(queue, now) ?? []))
}

type Rule = (queue: StoredQueue, now: Date) => Finding | undefined

const RULES: readonly Rule[] = [
  ({ queue, policy }) =>
    policy.dlqEnabled && policy.retention.dlq === 0
      ? {
          ...{ code: 'dlq_keeps_nothing', severity: 'error', fix: `spillway queues set ${queue} --dlq-retention 30d` },
          message: `queue ${queue} keeps its dead letters for 0 ms: they are deleted as soon as they die`,
        }
      : undefined,
  ({ queue, policy }) =>
    !policy.dlqEnabled && policy.retention.failed === 0
      ? {
          ...{ code: 'failures_vanish', severity: 'warning', fix: `spillway queues set ${queue} --dlq-enabled true` },
          message: `queue ${queue} has no dead-letter queue and keeps no failed jobs: what is given up leaves no trace`,
        }
      : undefined,
  ({ queue, policy }) =>
    policy.crashLimit === 1
      ? {
          ...{ code: 'crash_limit_hasty', severity: 'warning', fix: `spillway queues set ${queue} --crash-limit 3` },
          message: `queue ${queue} holds a job after one crash: one killed worker is enough`,
        }
      : undefined,
  ({ queue, policy }) =>
    policy.retention.completed === null
      ? {
          ...{
            code: 'completed_kept',
            severity: 'warning',
            fix: `spillway queues set ${queue} --completed-retention 7d`,
          },
          message: `queue ${queue} keeps completed jobs for good: the store grows with every job`,
        }
      : undefined,
  ({ queue, policy }) =>
    policy.noHandlerAfterMs < 60_000
      ? {
          ...{ code: 'unserved_hasty', severity: 'warning', fix: `spillway queues set ${queue} --unserved-after 1h` },
          message: `queue ${queue} gives up jobs nobody serves after ${policy.noHandlerAfterMs} ms: a deploy takes longer`,
        }
      : undefined,
  ({ queue, pausedAt, pausedBy, pausedReason, counts }, now) => {
    if (pausedAt === null) return undefined
    const waits = counts?.available ?? 0
    const since = `by ${pausedBy ?? 'nobody named'} since ${pausedAt.toISOString()}${pausedReason === null ? '' : `: ${pausedReason}`}`
    return {
      ...{ code: 'queue_paused', fix: `spillway queues resume ${queue}` },
      severity: waits >= MANY || (waits > 0 && now.getTime() - pausedAt.getTime() > DAY_MS) ? 'warning' : 'info',
      message: `queue ${queue} is paused ${since}; ${waits} jobs wait`,
    }
  },
]
