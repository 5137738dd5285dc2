import type { Rescued } from '../store/store.js'
import type { Worker } from '../worker/worker.js'
import { keyOf } from './bounded.js'
import type { MetricName, Sample, Samples } from './definitions.js'

/** Counts what the workers of this process do, from the moment they are observed. */
export class ProcessMeter {
  private readonly workers = new Set<Worker>()
  private readonly counts = new Map<MetricName, Map<string, { labels: Sample['labels']; value: number }>>()
  private readonly durations = new Set<(queue: string, seconds: number) => void>()

  /** Listens to the worker; one that has stopped keeps its counts. */
  observe(worker: Worker): void {
    if (this.workers.has(worker)) return
    this.workers.add(worker)
    const settled = (queue: string, outcome: string) => this.add('spillway_settles_total', { queue, outcome })
    const redriven = ({ queue, generation }: { queue: string; generation: number }, outcome: string) => {
      if (generation > 0) this.add('spillway_redrives_ended_total', { queue, outcome })
    }

    worker.on('completed', ({ job, durationMs }) => {
      settled(job.queue, 'completed')
      redriven(job, 'completed')
      for (const tell of this.durations) tell(job.queue, durationMs / 1_000)
    })
    worker.on('died', ({ job }) => {
      settled(job.queue, 'died')
      redriven(job, 'died')
    })
    worker.on('retrying', ({ job }) => settled(job.queue, 'retrying'))
    worker.on('snoozed', ({ job }) => settled(job.queue, 'snoozed'))
    worker.on('parked', ({ job }) => settled(job.queue, 'parked'))
    worker.on('waiting', ({ job }) => settled(job.queue, 'waiting'))
    worker.on('revoked', ({ job }) => settled(job.queue, 'revoked'))
    worker.on('lost', ({ job }) => settled(job.queue, 'lost'))
    worker.on('handedBack', ({ job }) => settled(job.queue, 'handed_back'))
    worker.on('error', ({ service }) => this.add('spillway_worker_errors_total', { service }))
  }

  /** What a rescue of this process did. */
  rescued({ retried, quarantined, handedBack }: Rescued): void {
    const outcomes = { retried, quarantined, handed_back: handedBack }
    for (const [outcome, n] of Object.entries(outcomes)) {
      if (n > 0) this.add('spillway_rescues_total', { outcome }, n)
    }
  }

  /** Tells of each duration of an attempt that completed. */
  onDuration(tell: (queue: string, seconds: number) => void): void {
    this.durations.add(tell)
  }

  samples(): Samples {
    const samples = new Map<MetricName, Sample[]>()
    for (const [name, series] of this.counts)
      samples.set(
        name,
        [...series.values()].map((it) => ({ ...it })),
      )
    for (const [name, of] of GAUGES) {
      const sums = new Map<string, number>()
      for (const worker of this.workers) {
        for (const usage of worker.usage) sums.set(usage.queue, (sums.get(usage.queue) ?? 0) + of(usage))
      }
      if (sums.size > 0)
        samples.set(
          name,
          [...sums].map(([queue, value]) => ({ labels: { queue }, value })),
        )
    }
    return samples
  }

  private add(name: MetricName, labels: Record<string, string>, n = 1): void {
    const series = this.counts.get(name) ?? new Map<string, { labels: Sample['labels']; value: number }>()
    this.counts.set(name, series)
    const key = keyOf(labels)
    const known = series.get(key)
    if (known) known.value += n
    else series.set(key, { labels, value: n })
  }
}

type Usage = Worker['usage'][number]

/** What a worker can be asked for at any time. */
const GAUGES: readonly (readonly [MetricName, (usage: Usage) => number])[] = [
  ['spillway_claims_total', ({ claimed }) => claimed],
  ['spillway_leases', ({ taken }) => taken],
  ['spillway_slots', ({ concurrency }) => concurrency],
  ['spillway_stuck_slots', ({ stuck }) => stuck],
]
