import type { MetricDefinition } from '../src/metrics/definitions.js'

/** File names and texts. */
export function monitoringFiles(metrics: Readonly<Record<string, MetricDefinition>>): Record<string, string>
