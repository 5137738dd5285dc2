/** What a metric is called and means. The names are public: dashboards and alerts stand on them. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /**
   * `store`: the same whichever process is asked, so it is not to be added up over processes. `process`: of one worker
   * process.
   */
  readonly of: 'store' | 'process'
  readonly labels: readonly string[]
  readonly help: string
  /** How series that are too many go into one; counts are added up. */
  readonly merge?: 'max'
  /** Of a histogram. */
  readonly buckets?: readonly number[]
}

/** Every metric there is. Prometheus, OpenTelemetry, the dashboard and the alert rules are made from this table. */
export const METRICS = {
  spillway_dlq_arrivals_total: counter(
    'store',
    ['queue', 'kind', 'reason'],
    'Jobs that came into the dead-letter queue',
  ),
  spillway_dlq_departures_total: counter(
    'store',
    ['queue', 'kind', 'reason'],
    'Dead letters that left: retried, discarded, purged, expired or evicted',
  ),
  spillway_dlq_depth: gauge('store', ['queue'], 'Dead letters there now'),
  spillway_dlq_oldest_age_seconds: gauge(
    'store',
    ['queue'],
    'Age of the oldest dead letter; absent where there is none',
    'max',
  ),
  spillway_dlq_unreviewed: gauge('store', ['queue'], 'Dead letters that nobody has acknowledged, muted or resolved'),
  spillway_dlq_expiring: gauge(
    'store',
    ['queue'],
    'Dead letters that retention deletes within 3 days, counted up to 10,000; absent where there is none',
  ),
  spillway_jobs_removed_total: counter('store', ['queue', 'reason'], 'Jobs that left the store for good, by why'),
  spillway_retention_removed_total: counter(
    'store',
    ['queue', 'reason'],
    'Jobs that retention removed, by the state they were in or why they had died; evicted: above a cap; pruned: with a month of the cold archive',
  ),

  spillway_jobs: gauge(
    'store',
    ['queue', 'state'],
    'Jobs that have not ended or are held, by state; unserved ones wait for a worker that can run them',
  ),
  spillway_unserved_seconds: gauge(
    'store',
    ['queue', 'kind'],
    'How long a kind has had jobs in a queue that workers take, none of whom can run them; absent where there is none',
    'max',
  ),
  spillway_queue_lag_seconds: gauge('store', ['queue'], 'How long the oldest claimable job has been waiting', 'max'),
  spillway_due_lag_seconds: gauge('store', [], 'How late the job that was due first is in becoming available'),
  spillway_queue_paused: gauge('store', ['queue'], '1 for queues nobody may claim from; absent for others', 'max'),
  spillway_workers: gauge('store', ['queue'], 'Living worker registrations that take jobs of the queue'),
  spillway_expired_leases: gauge('store', [], 'Leases of workers that are gone or silent, not taken back yet'),
  spillway_operations_open: gauge('store', [], 'Bulk operations that run or are paused'),

  spillway_maintenance_led: gauge('store', [], '1 while some process leads the maintenance'),
  spillway_duty_last_success_timestamp_seconds: gauge(
    'store',
    ['duty'],
    'When a duty last succeeded, to about 5 s while some process leads',
    'max',
  ),
  spillway_duty_paused: gauge('store', ['duty'], '1 for duties that somebody stopped; absent for others', 'max'),
  spillway_duty_failing: gauge('store', ['duty'], '1 while the last word of a duty is a failure', 'max'),
  spillway_ring_slots_used: gauge(
    'store',
    ['ring'],
    'Slots of a ring that hold rows, of 8; all of them used for long means that something keeps them from being truncated',
    'max',
  ),
  spillway_ring_bytes: gauge('store', ['ring'], 'Size of the slots of a ring'),
  spillway_horizon_holder_age_seconds: gauge(
    'store',
    [],
    'Age of the oldest transaction that keeps dead rows from being removed',
  ),
  spillway_horizon_age_transactions: gauge(
    'store',
    [],
    'How many transactions ago the oldest holder of the horizon began, replication slots included',
  ),
  spillway_schema_version: gauge('store', [], 'Version of the schema'),

  spillway_store_up: gauge('process', [], '1 when this process could read the store last time it looked'),
  spillway_store_read_seconds: gauge('process', [], 'How long reading the metrics of the store took'),

  spillway_claims_total: counter('process', ['queue'], 'Jobs this process has claimed'),
  spillway_settles_total: counter('process', ['queue', 'outcome'], 'Attempts of this process that ended, by how'),
  spillway_job_duration_seconds: {
    ...{ type: 'histogram', of: 'process', labels: ['queue'], help: 'How long attempts that completed took' },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  spillway_redrives_ended_total: counter(
    'process',
    ['queue', 'outcome'],
    'Jobs that were retried from the dead-letter queue and completed or died again',
  ),
  spillway_leases: gauge('process', ['queue'], 'Leases this process holds: attempts under way'),
  spillway_slots: gauge('process', ['queue'], 'Attempts this process may have under way'),
  spillway_stuck_slots: gauge('process', ['queue'], 'Slots held by handlers that ignore their signal'),
  spillway_rescues_total: counter(
    'process',
    ['outcome'],
    'Jobs this process, leading the maintenance, took back from dead workers',
  ),
  spillway_worker_errors_total: counter('process', ['service'], 'Trouble of background services of this process'),
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS

export const METRIC_NAMES = Object.keys(METRICS) as MetricName[]

/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Values by metric; those without any are left out. */
export type Samples = ReadonlyMap<MetricName, readonly Sample[]>

/** The definition of a metric, as every metric has it. */
export function definitionOf(name: MetricName): MetricDefinition {
  return METRICS[name]
}

function counter<const Labels extends readonly string[]>(of: MetricDefinition['of'], labels: Labels, help: string) {
  return { type: 'counter', of, labels, help } as const
}

function gauge<const Labels extends readonly string[]>(
  of: MetricDefinition['of'],
  labels: Labels,
  help: string,
  merge?: 'max',
) {
  return { type: 'gauge', of, labels, help, ...(merge === undefined ? {} : { merge }) } as const
}
