import type { Client } from '../client/client.js'
import type { Principal } from './call.js'

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2, 10] as const

interface Series {
  count: number
  sumS: number
  readonly buckets: number[]
}

/** What a monitoring system asks for, as Prometheus reads it. */
export class Metrics {
  private readonly series = new Map<string, Series>()

  answered(route: string, method: string, status: number, durationMs: number): void {
    const known = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? method : 'other'
    const key = labels({ method: known, route, status: String(status) })
    const found = this.series.get(key) ?? { count: 0, sumS: 0, buckets: BUCKETS.map(() => 0) }
    this.series.set(key, found)
    const seconds = durationMs / 1_000
    found.count++
    found.sumS += seconds
    BUCKETS.forEach((most, n) => {
      if (seconds <= most) found.buckets[n] = (found.buckets[n] ?? 0) + 1
    })
  }

  /** Counts of jobs, dead letters and workers as they are now, and of the answers given since the start. */
  async text(client: Client, { queues: own }: Principal, ofStore?: () => Promise<string>): Promise<string> {
    if (own === null && ofStore !== undefined) return `${await ofStore()}${this.answers().join('\n')}\n`
    const [queues, depth, workers] = await Promise.all([
      client.queues.list(),
      client.dlq.depthByQueue(),
      client.workers.list(),
    ])
    const mine = <T extends { readonly queue: string }>(all: readonly T[]) =>
      all.filter(({ queue }) => own === null || own.includes(queue))
    const now = Date.now()
    return [
      ...gauge('spillway_jobs', 'Jobs that have not ended, and dead letters, by queue and state.'),
      ...mine(queues).flatMap(({ queue, counts = {} }) =>
        Object.entries(counts).map(([state, n]) => `spillway_jobs${labels({ queue, state })} ${n}`),
      ),
      ...gauge('spillway_dlq_depth', 'Dead letters by queue.'),
      ...mine(depth).map(({ queue, depth: n }) => `spillway_dlq_depth${labels({ queue })} ${n}`),
      ...gauge('spillway_dlq_oldest_age_seconds', 'How long the oldest dead letter has been lying there.'),
      ...mine(depth).flatMap(({ queue, oldestAt }) =>
        oldestAt === null
          ? []
          : [`spillway_dlq_oldest_age_seconds${labels({ queue })} ${Math.max(0, (now - oldestAt.getTime()) / 1_000)}`],
      ),
      ...gauge('spillway_queue_paused', 'Whether nobody may claim from the queue.'),
      ...mine(queues).map(
        ({ queue, pausedAt }) => `spillway_queue_paused${labels({ queue })} ${pausedAt === null ? 0 : 1}`,
      ),
      ...gauge('spillway_workers', 'Registered worker processes.'),
      `spillway_workers ${workers.length}`,
      ...this.answers(),
      '',
    ].join('\n')
  }

  private answers(): string[] {
    const name = 'spillway_http_request_duration_seconds'
    const lines = [`# HELP ${name} How long answers took.`, `# TYPE ${name} histogram`]
    for (const [key, { count, sumS, buckets }] of this.series) {
      const inner = key.slice(1, -1)
      lines.push(...BUCKETS.map((most, n) => `${name}_bucket{${inner},le="${most}"} ${buckets[n]}`))
      lines.push(
        `${name}_bucket{${inner},le="+Inf"} ${count}`,
        `${name}_sum${key} ${sumS}`,
        `${name}_count${key} ${count}`,
      )
    }
    return lines
  }
}

function gauge(name: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]
}

function labels(values: Readonly<Record<string, string>>): string {
  const escaped = (text: string) => text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`
}
