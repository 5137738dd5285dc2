import type { Measures } from '../store/store.js'
import type { MetricName, Sample, Samples } from './definitions.js'

/** What the runtime and the operators' verbs write as reason; texts of operators go under one name. */
const ARRIVALS: ReadonlySet<string> = new Set([
  ...['attempts_exhausted', 'skipped', 'deadline_exceeded', 'callback_timeout', 'no_handler'],
  ...['manual', 'undone', 'imported', 'restored'],
])

/** Measures of a store as samples. */
export function storeSamples(measures: Measures): Samples {
  const samples = new Map<MetricName, Sample[]>()
  const put = (name: MetricName, value: number, labels: Record<string, string> = {}) => {
    const known = samples.get(name)
    if (known) known.push({ labels, value })
    else samples.set(name, [{ labels, value }])
  }

  for (const { queue, kind, reason, what, n } of measures.totals) {
    if (what === 'arrived') put('spillway_dlq_arrivals_total', n, { queue, kind, reason: reasonOf(reason) })
    else if (what === 'departed') put('spillway_dlq_departures_total', n, { queue, kind, reason })
    else if (what === 'gone' || what === 'expired')
      put('spillway_jobs_removed_total', n, { queue, reason: whyGone(what, reason) })
    if (what === 'expired') put('spillway_retention_removed_total', n, { queue, reason: wasKeptAs(reason) })
    else if (what === 'pruned') put('spillway_retention_removed_total', n, { queue, reason: what })
  }
  for (const { queue, depth, unreviewed, oldestSeconds } of measures.dlq) {
    put('spillway_dlq_depth', depth, { queue })
    put('spillway_dlq_unreviewed', unreviewed, { queue })
    put('spillway_dlq_oldest_age_seconds', oldestSeconds, { queue })
  }
  for (const { queue, n } of measures.expiring) put('spillway_dlq_expiring', n, { queue })
  for (const { queue, state, n } of measures.jobs) put('spillway_jobs', n, { queue, state })
  for (const { queue, kind, seconds } of measures.unserved) put('spillway_unserved_seconds', seconds, { queue, kind })
  for (const { queue, seconds } of measures.lag) put('spillway_queue_lag_seconds', seconds, { queue })
  for (const queue of measures.pausedQueues) put('spillway_queue_paused', 1, { queue })
  for (const { queue, n } of measures.workers) put('spillway_workers', n, { queue })
  put('spillway_due_lag_seconds', measures.dueLagSeconds)
  put('spillway_expired_leases', measures.expiredLeases)
  put('spillway_operations_open', measures.openOperations)
  put('spillway_maintenance_led', measures.isLed ? 1 : 0)
  for (const { duty, lastSuccessAt, lastErrorAt, pausedAt } of measures.duties) {
    if (pausedAt) put('spillway_duty_paused', 1, { duty })
    if (lastSuccessAt) put('spillway_duty_last_success_timestamp_seconds', lastSuccessAt.getTime() / 1_000, { duty })
    put('spillway_duty_failing', isFailing(lastSuccessAt, lastErrorAt) ? 1 : 0, { duty })
  }
  for (const { ring, usedSlots, bytes } of measures.rings) {
    put('spillway_ring_slots_used', usedSlots, { ring })
    put('spillway_ring_bytes', bytes, { ring })
  }
  put('spillway_horizon_holder_age_seconds', Math.max(0, ...measures.horizon.map(({ seconds }) => seconds ?? 0)))
  put('spillway_horizon_age_transactions', Math.max(0, ...measures.horizon.map(({ transactions }) => transactions)))
  put('spillway_schema_version', measures.schemaVersion)
  return samples
}

function isFailing(successAt: Date | null, errorAt: Date | null): boolean {
  return errorAt !== null && (successAt === null || errorAt > successAt)
}

function reasonOf(reason: string): string {
  return ARRIVALS.has(reason) ? reason : 'operator'
}

/** Of an expired one the reason counted is the state or why it had died; of what a cap removed, that. */
function whyGone(what: string, reason: string): string {
  if (what === 'expired') return reason === 'evicted' ? 'evicted' : 'expired'
  return GONE.has(reason) ? reason : 'given_up'
}

function wasKeptAs(reason: string): string {
  return KEPT.has(reason) ? reason : reasonOf(reason)
}

const KEPT: ReadonlySet<string> = new Set([
  ...['completed', 'failed', 'cancelled', 'discarded', 'quarantined', 'undecodable', 'evicted'],
])
const GONE: ReadonlySet<string> = new Set(['completed', 'cancelled', 'revoked', 'purged', 'expired'])
