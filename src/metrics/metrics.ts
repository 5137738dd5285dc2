import type { Meter } from '@opentelemetry/api'
import type { Registry } from 'prom-client'
import type { Diagnosing, Rescued } from '../store/store.js'
import type { Worker } from '../worker/worker.js'
import { Bounded } from './bounded.js'
import type { MetricName, Sample, Samples } from './definitions.js'
import { instrument } from './opentelemetry.js'
import { ProcessMeter } from './process-meter.js'
import { prometheusRegistry } from './prometheus.js'
import { StoreReading } from './store-reading.js'

export interface MetricsOptions {
  /** The store is read at most once in so many ms, however many scrape. Default: 10,000. */
  readonly everyMs?: number
  /** Series of one metric that have queues and kinds by name; what comes later is called `other`. Default: 1,000. */
  readonly maxSeries?: number
}

/**
 * The metrics of one store and of the workers of this process, as Prometheus text and as OpenTelemetry instruments with
 * the same names.
 *
 * What is the store's is the same in every process: take the maximum over them, never the sum.
 */
export class Metrics {
  /** Of prom-client: to be merged with others of the process, or asked for single metrics. */
  readonly registry: Registry
  private readonly meter = new ProcessMeter()
  private readonly store: StoreReading

  constructor(store: Pick<Diagnosing, 'measure'>, { everyMs = 10_000, maxSeries = 1_000 }: MetricsOptions = {}) {
    this.store = new StoreReading(store, new Bounded(maxSeries), everyMs)
    this.registry = prometheusRegistry(
      (name) => this.samplesOf(name),
      (tell) => this.meter.onDuration(tell),
    )
  }

  /** Content type of {@link text}. */
  get contentType(): string {
    return this.registry.contentType
  }

  /** Everything in the Prometheus text format. A store that cannot be read is `spillway_store_up 0`, not an error. */
  text(): Promise<string> {
    return this.registry.metrics()
  }

  /** Every value there is now. */
  async samples(): Promise<Samples> {
    return new Map([...(await this.store.samples()), ...this.meter.samples()])
  }

  /**
   * Makes the same metrics instruments of an OpenTelemetry meter; they are observed when its reader collects.
   *
   * @returns ends the observation.
   *
   * @example
   * const metrics = await spillway.metrics()
   * metrics.instrument(opentelemetry.metrics.getMeter('spillway'))
   */
  instrument(meter: Meter): () => void {
    return instrument(
      meter,
      () => this.samples(),
      (tell) => this.meter.onDuration(tell),
    )
  }

  /** Counts what a worker of this process does from now on. */
  observe(worker: Worker): void {
    this.meter.observe(worker)
  }

  /** Counts what a rescue of this process did. */
  rescued(rescued: Rescued): void {
    this.meter.rescued(rescued)
  }

  private async samplesOf(name: MetricName): Promise<readonly Sample[]> {
    return (await this.samples()).get(name) ?? []
  }
}
