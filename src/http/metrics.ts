import type { Client } from '../client/client.js'
import { HELD_STATES, LIVE_STATES } from '../job/states.js'
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

  /**
   * What the store is like now, and the answers given since the start. Of a caller who reaches some queues only, what is
   * said of these.
   */
  async text(client: Client, { queues: own }: Principal, ofStore?: () => Promise<string>): Promise<string> {
    const text = ofStore === undefined ? await shortText(client) : await ofStore()
    return `${own === null ? text : onlyOf(text, own)}${this.answers().join('\n')}\n`
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

/** Without the measurements of a `Spillway`: the most important ones, under the same names and with the same meaning. */
async function shortText(client: Client): Promise<string> {
  const [queues, depth, workers] = await Promise.all([
    client.queues.list(),
    client.dlq.depthByQueue(),
    client.workers.list(),
  ])
  const now = Date.now()
  const states: ReadonlySet<string> = new Set([...LIVE_STATES, ...HELD_STATES])
  const jobs = queues.flatMap(({ queue, counts = {} }) =>
    Object.entries(counts).flatMap(([state, n]) => (states.has(state) ? [[labels({ queue, state }), n] as const] : [])),
  )
  const taking = new Map<string, number>()
  for (const queue of workers.flatMap((it) => it.queues)) taking.set(queue, (taking.get(queue) ?? 0) + 1)
  return [
    ...gauge('spillway_jobs', jobs),
    ...gauge(
      'spillway_dlq_depth',
      depth.map(({ queue, depth: n }) => [labels({ queue }), n]),
    ),
    ...gauge(
      'spillway_dlq_oldest_age_seconds',
      depth.flatMap(({ queue, oldestAt }) =>
        oldestAt === null ? [] : [[labels({ queue }), Math.max(0, (now - oldestAt.getTime()) / 1_000)] as const],
      ),
    ),
    ...gauge(
      'spillway_queue_paused',
      queues.flatMap(({ queue, pausedAt }) => (pausedAt === null ? [] : [[labels({ queue }), 1] as const])),
    ),
    ...gauge(
      'spillway_workers',
      [...taking].map(([queue, n]) => [labels({ queue }), n]),
    ),
    '',
  ].join('\n')
}

/** What the metrics of a `Spillway` say of theirs, word for word. */
const HELP = {
  spillway_jobs: 'Jobs that have not ended or are held, by state; unserved ones wait for a worker that can run them',
  spillway_dlq_depth: 'Dead letters there now',
  spillway_dlq_oldest_age_seconds: 'Age of the oldest dead letter; absent where there is none',
  spillway_queue_paused: '1 for queues nobody may claim from; absent for others',
  spillway_workers: 'Living worker registrations that take jobs of the queue',
} as const

function gauge(name: keyof typeof HELP, series: readonly (readonly [labels: string, value: number])[]): string[] {
  if (series.length === 0) return []
  return [
    `# HELP ${name} ${HELP[name]}`,
    `# TYPE ${name} gauge`,
    ...series.map(([of, value]) => `${name}${of} ${value}`),
  ]
}

/** The series of these queues; what is about no queue is about all of them. */
function onlyOf(text: string, queues: readonly string[]): string {
  const kept: string[] = []
  let head: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('# HELP ')) head = [line]
    else if (line.startsWith('#')) head.push(line)
    else if (queues.includes(queueOf(line) ?? '')) {
      kept.push(...head, line)
      head = []
    }
  }
  return kept.map((line) => `${line}\n`).join('')
}

function queueOf(line: string): string | undefined {
  const [, escaped] = /[{,]queue="((?:[^"\\]|\\.)*)"/.exec(line) ?? []
  return escaped?.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
}

function labels(values: Readonly<Record<string, string>>): string {
  const escaped = (text: string) => text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`
}
