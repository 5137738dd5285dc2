import type { Meter, Observable } from '@opentelemetry/api'
import { definitionOf, METRIC_NAMES, type MetricName, type Samples } from './definitions.js'

/** Every metric as an instrument of the meter, under its own name. Answers how to end it. */
export function instrument(
  meter: Meter,
  samples: () => Promise<Samples>,
  onDuration: (tell: (queue: string, seconds: number) => void) => void,
): () => void {
  const observed = new Map<MetricName, Observable>()
  let isOn = true
  for (const name of METRIC_NAMES) {
    const { type, help, buckets = [] } = definitionOf(name)
    const unit = name.includes('_seconds') ? 's' : name.includes('_bytes') ? 'By' : '1'
    const options = { description: help, unit }
    if (type === 'histogram') {
      const histogram = meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...buckets] } })
      onDuration((queue, seconds) => {
        if (isOn) histogram.record(seconds, { queue })
      })
    } else if (type === 'counter') observed.set(name, meter.createObservableCounter(name, options))
    else observed.set(name, meter.createObservableGauge(name, options))
  }

  const instruments = [...observed.values()]
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    const found = await samples()
    for (const [name, observable] of observed) {
      for (const { labels, value } of found.get(name) ?? []) result.observe(observable, value, labels)
    }
  }
  meter.addBatchObservableCallback(observe, instruments)
  return () => {
    isOn = false
    meter.removeBatchObservableCallback(observe, instruments)
  }
}
