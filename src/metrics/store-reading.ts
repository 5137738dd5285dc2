import type { Diagnosing } from '../store/store.js'
import type { Bounded } from './bounded.js'
import type { MetricName, Samples } from './definitions.js'
import { storeSamples } from './store-samples.js'

/** A look may take this part of the time: a store that is slow to count is asked less often. */
const SHARE = 20

/**
 * The store's metrics, read at most once in `everyMs` however many ask, and less often where reading takes long. A store
 * that cannot be read has no samples but that.
 */
export class StoreReading {
  private reading: Promise<Samples> | undefined
  private readUntil = 0

  constructor(
    private readonly store: Pick<Diagnosing, 'measure'>,
    private readonly bounded: Bounded,
    private readonly everyMs: number,
  ) {}

  samples(): Promise<Samples> {
    if (this.reading === undefined || performance.now() >= this.readUntil) {
      this.readUntil = Number.POSITIVE_INFINITY
      this.reading = this.read()
    }
    return this.reading
  }

  private async read(): Promise<Samples> {
    const startedAt = performance.now()
    const tookMs = () => performance.now() - startedAt
    const samples = new Map<MetricName, readonly { labels: Record<string, string>; value: number }[]>()
    try {
      for (const [name, found] of storeSamples(await this.store.measure())) {
        samples.set(name, this.bounded.bound(name, found))
      }
      samples.set('spillway_store_up', [{ labels: {}, value: 1 }])
    } catch {
      // Said by the gauge, which is what whoever scrapes looks at; the store has its own way to tell why.
      samples.set('spillway_store_up', [{ labels: {}, value: 0 }])
    }
    samples.set('spillway_store_read_seconds', [{ labels: {}, value: tookMs() / 1_000 }])
    this.readUntil = performance.now() + Math.max(this.everyMs, tookMs() * SHARE)
    return samples
  }
}
