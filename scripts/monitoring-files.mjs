// The Grafana dashboard and the Prometheus alert rules, made from the table of metrics so that no name in them is wrong.
// What is the store's is the same in every process: the maximum over them, never the sum.

/** @param {Record<string, { type: string, of: string, labels: readonly string[], help: string }>} metrics */
export function monitoringFiles(metrics) {
  const named = (name) => {
    if (!(name in metrics)) throw new Error(`there is no metric ${name}`)
    return name
  }
  return {
    'dashboard.json': `${JSON.stringify(dashboard(named, metrics), null, 2)}\n`,
    'alerts.yml': alerts(named),
  }
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

function dashboard(named, metrics) {
  const panels = PANELS.map(([title, unit, ...queries], n) => ({
    id: n + 1,
    title,
    description: descriptionOf(queries, named, metrics),
    type: 'timeseries',
    datasource: DATASOURCE,
    gridPos: { h: 8, w: 12, x: (n % 2) * 12, y: Math.floor(n / 2) * 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([legend, query], at) => ({
      refId: String.fromCharCode(65 + at),
      legendFormat: legend,
      expr: query(named),
    })),
  }))
  return {
    title: 'Spillway',
    uid: 'spillway',
    tags: ['spillway'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'queue',
          type: 'query',
          datasource: DATASOURCE,
          query: `label_values(${named('spillway_jobs')}, queue)`,
          includeAll: true,
          multi: true,
          allValue: '.*',
          refresh: 2,
        },
      ],
    },
    panels,
  }
}

/** What the metrics of a panel mean, in their own words. */
function descriptionOf(queries, named, metrics) {
  const names = new Set()
  for (const [, query] of queries) {
    query((name) => {
      names.add(named(name))
      return name
    })
  }
  return [...names].map((name) => `${name}: ${metrics[name].help}`).join('\n')
}

const OF_QUEUE = '{queue=~"$queue"}'
const store =
  (name, by, of = OF_QUEUE) =>
  (m) =>
    `max by (${by}) (${m(name)}${of})`
const flow = (name, by) => (m) => `sum by (${by}) (max by (queue, kind, reason) (rate(${m(name)}${OF_QUEUE}[5m])))`
const processes = (name, by) => (m) => `sum by (${by}) (rate(${m(name)}${OF_QUEUE}[5m]))`

/** Title, unit, and legend and query of each line. */
const PANELS = [
  ['Dead letters arriving', 'ops', ['{{queue}} {{reason}}', flow('spillway_dlq_arrivals_total', 'queue, reason')]],
  ['Dead letters leaving', 'ops', ['{{queue}} {{reason}}', flow('spillway_dlq_departures_total', 'queue, reason')]],
  [
    'Dead letters there',
    'short',
    ['{{queue}}', store('spillway_dlq_depth', 'queue')],
    ['{{queue}} unreviewed', store('spillway_dlq_unreviewed', 'queue')],
  ],
  ['Dead letters that leave soon', 'short', ['{{queue}} within 3 days', store('spillway_dlq_expiring', 'queue')]],
  ['Age of the oldest dead letter', 's', ['{{queue}}', store('spillway_dlq_oldest_age_seconds', 'queue')]],
  [
    'Retries from the dead-letter queue that succeed',
    'percentunit',
    [
      '{{queue}}',
      (m) =>
        `sum by (queue) (rate(${m('spillway_redrives_ended_total')}{queue=~"$queue",outcome="completed"}[15m]))` +
        ` / sum by (queue) (rate(${m('spillway_redrives_ended_total')}${OF_QUEUE}[15m]))`,
    ],
  ],
  ['Jobs by state', 'short', ['{{queue}} {{state}}', store('spillway_jobs', 'queue, state')]],
  [
    'How long jobs wait',
    's',
    ['{{queue}}', store('spillway_queue_lag_seconds', 'queue')],
    ['due jobs', store('spillway_due_lag_seconds', '', '')],
  ],
  ['Claims', 'ops', ['{{queue}}', processes('spillway_claims_total', 'queue')]],
  ['Attempts that ended', 'ops', ['{{queue}} {{outcome}}', processes('spillway_settles_total', 'queue, outcome')]],
  [
    'Duration of attempts',
    's',
    [
      '{{queue}} p50',
      (m) =>
        `histogram_quantile(0.5, sum by (queue, le) (rate(${m('spillway_job_duration_seconds')}_bucket${OF_QUEUE}[5m])))`,
    ],
    [
      '{{queue}} p99',
      (m) =>
        `histogram_quantile(0.99, sum by (queue, le) (rate(${m('spillway_job_duration_seconds')}_bucket${OF_QUEUE}[5m])))`,
    ],
  ],
  [
    'Slots',
    'short',
    ['{{queue}} in use', (m) => `sum by (queue) (${m('spillway_leases')}${OF_QUEUE})`],
    ['{{queue}} there', (m) => `sum by (queue) (${m('spillway_slots')}${OF_QUEUE})`],
    ['{{queue}} stuck', (m) => `sum by (queue) (${m('spillway_stuck_slots')}${OF_QUEUE})`],
  ],
  [
    'Workers',
    'short',
    ['{{queue}}', store('spillway_workers', 'queue')],
    ['expired leases', store('spillway_expired_leases', '', '')],
  ],
  [
    'Jobs taken back from dead workers',
    'ops',
    ['{{outcome}}', (m) => `sum by (outcome) (rate(${m('spillway_rescues_total')}[5m]))`],
  ],
  [
    'Trouble of workers',
    'ops',
    ['{{service}}', (m) => `sum by (service) (rate(${m('spillway_worker_errors_total')}[5m]))`],
    [
      '{{queue}} lost',
      (m) => `sum by (queue) (rate(${m('spillway_settles_total')}{queue=~"$queue",outcome="lost"}[5m]))`,
    ],
  ],
  [
    'Duties: since their last success',
    's',
    ['{{duty}}', (m) => `time() - max by (duty) (${m('spillway_duty_last_success_timestamp_seconds')})`],
  ],
  ['Space', 'bytes', ['{{ring}}', store('spillway_ring_bytes', 'ring', '')]],
  [
    'What holds dead rows',
    's',
    ['oldest transaction', store('spillway_horizon_holder_age_seconds', '', '')],
    ['ring slots in use: {{ring}}', store('spillway_ring_slots_used', 'ring', '')],
  ],
  [
    'Jobs gone for good',
    'ops',
    [
      '{{queue}} {{reason}}',
      (m) => `max by (queue, reason) (rate(${m('spillway_jobs_removed_total')}${OF_QUEUE}[5m]))`,
    ],
  ],
  [
    'Removed by retention',
    'ops',
    [
      '{{queue}} {{reason}}',
      (m) => `max by (queue, reason) (rate(${m('spillway_retention_removed_total')}${OF_QUEUE}[5m]))`,
    ],
  ],
]

function alerts(named) {
  const rules = ALERTS.map(
    ([name, severity, hold, query, summary, action]) => `      - alert: ${name}
        expr: ${JSON.stringify(query(named))}
        for: ${hold}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(summary)}
          description: ${JSON.stringify(action)}
`,
  )
  return `# Made by \`npm run monitoring\` from the table of metrics; change scripts/monitoring-files.mjs, not this file.
groups:
  - name: spillway
    rules:
${rules.join('')}`
}

/** Name, severity, for how long, query, what it says and what to do. */
const ALERTS = [
  [
    'SpillwayDeadLettersArriving',
    'warning',
    '5m',
    (m) => `sum by (queue) (max by (queue, kind, reason) (increase(${m('spillway_dlq_arrivals_total')}[10m]))) > 10`,
    'Jobs of queue {{ $labels.queue }} die: {{ $value | humanize }} in 10 minutes',
    'spillway dlq groups --queue {{ $labels.queue }} shows the causes.',
  ],
  [
    'SpillwayDeadLettersOld',
    'warning',
    '15m',
    (m) =>
      `max by (queue) (${m('spillway_dlq_oldest_age_seconds')}) > 7 * 86400 and max by (queue) (${m('spillway_dlq_unreviewed')}) > 0`,
    'The oldest dead letter of queue {{ $labels.queue }} is {{ $value | humanizeDuration }} old',
    'Retry it, discard it, or keep it longer: retention deletes it one day. spillway doctor says when.',
  ],
  [
    'SpillwayDeadLettersExpiring',
    'warning',
    '15m',
    (m) => `max by (queue) (${m('spillway_dlq_expiring')}) > 0`,
    'Retention deletes {{ $value }} dead letters of queue {{ $labels.queue }} within 3 days',
    'spillway dlq expiring says when the first goes; spillway dlq export keeps them, or set a longer --dlq-retention.',
  ],
  [
    'SpillwayDeadLettersEvicted',
    'warning',
    '0m',
    (m) => `max by (queue) (increase(${m('spillway_jobs_removed_total')}{reason="evicted"}[15m])) > 0`,
    'The cap of queue {{ $labels.queue }} removed {{ $value | humanize }} dead letters in 15 minutes',
    'Look at why so many die (spillway dlq groups), or raise --dlq-max-rows.',
  ],
  [
    'SpillwayRetriesDieAgain',
    'warning',
    '15m',
    (m) =>
      `sum by (queue) (increase(${m('spillway_redrives_ended_total')}{outcome="died"}[30m])) > sum by (queue) (increase(${m('spillway_redrives_ended_total')}{outcome="completed"}[30m]))`,
    'Most retries from the dead-letter queue of {{ $labels.queue }} die again',
    'Pause the operation (spillway operations list) and retry with --canary once the cause is fixed.',
  ],
  [
    'SpillwayQueueBehind',
    'warning',
    '10m',
    (m) =>
      `max by (queue) (${m('spillway_queue_lag_seconds')}) > 300 unless max by (queue) (${m('spillway_queue_paused')}) == 1`,
    'Jobs of queue {{ $labels.queue }} wait for {{ $value | humanizeDuration }}',
    'Raise its concurrency or start another worker; spillway doctor says whether anybody serves its kinds.',
  ],
  [
    'SpillwayNoWorker',
    'critical',
    '5m',
    (m) =>
      `max by (queue) (${m('spillway_jobs')}{state="available"}) > 0 unless max by (queue) (${m('spillway_workers')}) > 0 unless max by (queue) (${m('spillway_queue_paused')}) == 1`,
    'Jobs wait in queue {{ $labels.queue }} and no worker takes them',
    'Start a worker whose queues name {{ $labels.queue }}.',
  ],
  [
    'SpillwayUnservedJobs',
    'warning',
    '10m',
    (m) => `max by (queue, kind) (${m('spillway_unserved_seconds')}) > 0`,
    'No worker of queue {{ $labels.queue }} can run its jobs of kind {{ $labels.kind }}, for {{ $value | humanizeDuration }}',
    'Deploy a worker that has the kind and the version of these jobs; spillway queues unserved shows how long they will wait.',
  ],
  [
    'SpillwayHeldJobs',
    'warning',
    '5m',
    (m) => `max by (queue, state) (${m('spillway_jobs')}{state=~"quarantined|undecodable"}) > 0`,
    '{{ $value }} jobs of queue {{ $labels.queue }} are {{ $labels.state }}',
    'They wait for somebody to look: spillway jobs list --state {{ $labels.state }}.',
  ],
  [
    'SpillwayNobodyLeads',
    'critical',
    '2m',
    (m) => `max(${m('spillway_maintenance_led')}) == 0`,
    'No process does the maintenance',
    'Due jobs do not become available and jobs of dead workers are not taken back: start a worker.',
  ],
  [
    'SpillwayDueJobsLate',
    'critical',
    '2m',
    (m) => `max(${m('spillway_due_lag_seconds')}) > 60`,
    'A job has been due for {{ $value | humanizeDuration }} and is not available',
    'Look at the errors of the worker that leads.',
  ],
  [
    'SpillwayDutyFailing',
    'warning',
    '5m',
    (m) => `max by (duty) (${m('spillway_duty_failing')}) == 1`,
    'Duty {{ $labels.duty }} fails',
    'spillway doctor shows its last error.',
  ],
  [
    'SpillwayDutyPaused',
    'warning',
    '1h',
    (m) => `max by (duty) (${m('spillway_duty_paused')}) == 1`,
    'Duty {{ $labels.duty }} has been paused for an hour',
    'spillway duties list says what it does; spillway duties resume {{ $labels.duty }} lets it go on.',
  ],
  [
    'SpillwayDutyLate',
    'warning',
    '5m',
    (m) =>
      `time() - max by (duty) (${m('spillway_duty_last_success_timestamp_seconds')}{duty=~"rescue|retain|retain_dlq|retain_held|evict|forget"}) > 300 unless max by (duty) (${m('spillway_duty_paused')}) == 1`,
    'Duty {{ $labels.duty }} has not succeeded for {{ $value | humanizeDuration }}',
    'Restart the worker that leads.',
  ],
  [
    'SpillwayLeasesExpired',
    'warning',
    '3m',
    (m) => `max(${m('spillway_expired_leases')}) > 0`,
    '{{ $value }} jobs are leased to workers that are gone',
    'They are taken back within a minute while somebody leads; spillway workers list shows who is silent.',
  ],
  [
    'SpillwayRescues',
    'warning',
    '0m',
    (m) => `sum(increase(${m('spillway_rescues_total')}{outcome!="handed_back"}[15m])) > 5`,
    'Workers die with jobs in their hands',
    'Look for processes that are killed (memory, deadlines of the platform) before their handlers end.',
  ],
  [
    'SpillwayStuckSlots',
    'warning',
    '10m',
    (m) => `sum by (queue) (${m('spillway_stuck_slots')}) > 0`,
    'Handlers of queue {{ $labels.queue }} ignore their signal',
    'Pass ctx.signal on to what they wait for; the slots stay taken until they end.',
  ],
  [
    'SpillwayHorizonHeld',
    'warning',
    '5m',
    (m) => `max(${m('spillway_horizon_holder_age_seconds')}) > 600`,
    'A transaction has kept dead rows from being removed for {{ $value | humanizeDuration }}',
    'spillway doctor names its pid and application.',
  ],
  [
    'SpillwayRingFull',
    'warning',
    '15m',
    (m) => `max by (ring) (${m('spillway_ring_slots_used')}) >= 8`,
    'Every slot of ring {{ $labels.ring }} holds rows',
    'Something keeps them from being truncated, most likely a long reader: spillway doctor names it.',
  ],
  [
    'SpillwayStoreUnreadable',
    'critical',
    '2m',
    (m) => `max(${m('spillway_store_up')}) == 0`,
    'No process can read the store',
    'spillway doctor says why.',
  ],
]
