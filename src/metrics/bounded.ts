import { definitionOf, type MetricName, type Sample } from './definitions.js'

/** What stands in place of names that came when there were enough. */
const OTHER = 'other'
const NAMES: ReadonlySet<string> = new Set(['queue', 'kind'])

/**
 * Keeps the number of series of each metric bounded, whatever queues and kinds there are: the first ones keep their names
 * as long as the process lives, later ones go into a series called `other`. What is in it once stays in it, so that
 * counters never go back.
 */
export class Bounded {
  private readonly known = new Map<MetricName, Set<string>>()

  /** @param most - Series of one metric that have names of their own. */
  constructor(private readonly most: number) {}

  bound(name: MetricName, samples: readonly Sample[]): Sample[] {
    const merged = new Map<string, Sample>()
    const isMax = definitionOf(name).merge === 'max'
    for (const { labels, value } of samples) {
      const shown = this.labelsOf(name, labels)
      const key = keyOf(shown)
      const before = merged.get(key)?.value
      merged.set(key, {
        labels: shown,
        value: before === undefined ? value : isMax ? Math.max(before, value) : before + value,
      })
    }
    return [...merged.values()]
  }

  private labelsOf(name: MetricName, labels: Sample['labels']): Sample['labels'] {
    const known = this.known.get(name) ?? new Set<string>()
    this.known.set(name, known)
    const key = keyOf(labels)
    if (known.has(key)) return labels
    if (known.size < this.most) {
      known.add(key)
      return labels
    }
    return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, NAMES.has(label) ? OTHER : value]))
  }
}

export function keyOf(labels: Sample['labels']): string {
  return Object.values(labels).join('\x1f')
}
