import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { definitionOf, METRIC_NAMES, type MetricName, type Sample } from './definitions.js'

type TellDuration = (queue: string, seconds: number) => void

/** Every metric in a registry of its own, filled when it is asked. */
export function prometheusRegistry(
  samplesOf: (name: MetricName) => Promise<readonly Sample[]>,
  onDuration: (tell: TellDuration) => void,
): Registry {
  const registry = new Registry()
  for (const name of METRIC_NAMES) {
    const { type, help, labels, buckets = [] } = definitionOf(name)
    const config = { name, help, labelNames: [...labels], registers: [registry] }
    if (type === 'histogram') {
      const histogram = new Histogram({ ...config, buckets: [...buckets] })
      onDuration((queue, seconds) => histogram.observe({ queue }, seconds))
    } else if (type === 'counter') {
      new Counter({
        ...config,
        async collect() {
          const samples = await samplesOf(name)
          this.reset()
          for (const { labels: of, value } of samples) this.inc(of, value)
        },
      })
    } else {
      new Gauge({
        ...config,
        async collect() {
          const samples = await samplesOf(name)
          this.reset()
          // A gauge without labels begins with 0, which would be said of a store that cannot be read.
          if (labels.length === 0) this.remove()
          for (const { labels: of, value } of samples) this.set(of, value)
        },
      })
    }
  }
  return registry
}
