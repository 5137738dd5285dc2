import type { Call } from '../call.js'
import { defined } from '../defined.js'

/** How many rows a list has in all: exact, or an upper bound that says so. Never a count of rows one by one. */
interface Total {
  readonly count: number
  readonly estimate: boolean
}

interface JobsWanted {
  readonly state?: string | undefined
  readonly queue?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly kind?: string | undefined
}

interface DeadWanted extends JobsWanted {
  readonly tag?: string | undefined
  readonly reason?: string | undefined
  readonly cause?: string | undefined
  readonly error?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/** Dead letters are counted by their causes; what else a filter says makes the count an upper bound. */
export async function totalOfDead(call: Call, wanted: DeadWanted): Promise<Total> {
  const { queue, queues, kind, cause, tag, reason, error, since, until } = wanted
  const estimate = [tag, reason, error, since, until].some((it) => it !== undefined)
  const filter = defined({ queue, queues, kind, cause })
  return { count: await call.once(JSON.stringify(['dead', filter]), () => call.client.dlq.count(filter)), estimate }
}

/** Undefined where nothing cheap bounds it, or where counting takes longer than anybody wants to wait for a page. */
export async function totalOfJobs(call: Call, wanted: JobsWanted): Promise<Total | undefined> {
  const { state, queue, queues, kind } = wanted
  if (state === 'archived') return totalOfDead(call, wanted)
  if (queue === undefined && queues === undefined) {
    const counting = call.once<Counts>('counts', () => call.client.jobs.counts())
    const counts = await within(PATIENCE_MS, counting)
    if (counts === undefined) return undefined
    const count = state === undefined ? Object.values(counts).reduce((sum, n) => sum + n, 0) : (counts[state] ?? 0)
    return { count, estimate: kind !== undefined }
  }
  // Of ended jobs nobody knows how many a queue has without counting them.
  if (state === undefined || ['completed', 'failed', 'cancelled', 'discarded'].includes(state)) return undefined
  const all = await within(
    PATIENCE_MS,
    call.once('queues', () => call.client.queues.list()),
  )
  const count = all
    ?.filter((it) => (queue === undefined ? (queues?.includes(it.queue) ?? true) : it.queue === queue))
    .reduce((sum, { counts = {} }) => sum + ((counts as Counts)[state] ?? 0), 0)
  return count === undefined ? undefined : { count, estimate: kind !== undefined }
}

type Counts = Readonly<Record<string, number>>

/** A page without its total is better than a page that comes late; the total is there for the next one. */
const PATIENCE_MS = 50

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  // Whoever comes later asks again.
  const found = await Promise.race([work.catch(() => undefined), late])
  clearTimeout(timer)
  return found
}

export function depthOf(call: Call) {
  return call.once('depth', () => call.client.dlq.depthByQueue())
}
