import type { Flow, Queue, Worker } from '../../api.js'
import { waitingIn } from '../queues/waiting.js'

/** The flow with a place for each minute or hour, also those in which nothing happened. */
export function filled(items: readonly Flow[], stepMs: number, places: number, now: number): Filled {
  const last = Math.floor(now / stepMs) * stepMs
  const times = Array.from({ length: places }, (_, n) => new Date(last - (places - 1 - n) * stepMs))
  const byTime = new Map(items.map((it) => [it.at.getTime(), it]))
  const of = (what: 'arrived' | 'departed') => times.map((at) => byTime.get(at.getTime())?.[what] ?? 0)
  return { times, arrived: of('arrived'), departed: of('departed') }
}

export interface Filled {
  readonly times: readonly Date[]
  readonly arrived: readonly number[]
  readonly departed: readonly number[]
}

export interface Verdict {
  readonly tone: 'bad' | 'warn' | 'good'
  readonly word: string
  readonly arrived: number
  readonly departed: number
}

/** What the last hour says: whether more dies than is dealt with, and whether it still does. */
export function verdictOf({ arrived, departed }: Filled): Verdict {
  const came = sum(arrived)
  const went = sum(departed)
  const lately = sum(arrived.slice(-10))
  const said = { arrived: came, departed: went }
  if (lately > 0 && came > went) return { tone: 'bad', word: 'Bleeding', ...said }
  if (came > went) return { tone: 'warn', word: 'Grew in the last hour', ...said }
  return { tone: 'good', word: lately > 0 ? 'Arrivals are dealt with' : 'Nothing is bleeding', ...said }
}

/** Queues whose jobs wait although no worker of theirs is heard. */
export function queuesWithoutWorker(
  queues: readonly Queue[],
  workers: readonly Worker[],
  now: number,
): readonly Queue[] {
  const served = new Set(workers.filter((it) => isHeard(it, now)).flatMap((it) => it.queues))
  return queues.filter((it) => waitingIn(it) > 0 && it.pausedAt === null && !served.has(it.queue))
}

/** Workers beat every few seconds; one that has not for this long is likely gone. */
const SILENT_MS = 30_000

export function isHeard({ heartbeatAt }: Worker, now: number): boolean {
  return now - heartbeatAt.getTime() < SILENT_MS
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0)
}
