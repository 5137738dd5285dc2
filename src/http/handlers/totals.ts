import type { Call } from '../call.js'

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
  if (kind === undefined && cause === undefined) {
    const all = await depthOf(call)
    const count = all.filter((it) => within(it.queue, queue, queues)).reduce((sum, { depth }) => sum + depth, 0)
    return { count, estimate }
  }
  const groups = await call.once(`groups of ${JSON.stringify([queue, kind])}`, async () => {
    const filter = { ...(queue === undefined ? {} : { queue }), ...(kind === undefined ? {} : { kind }) }
    const { items, cursor } = await call.client.dlq.groups(filter, { limit: 1_000 })
    return { items: items.map(({ queue, cause, count }) => ({ queue, cause, count })), isAll: cursor === null }
  })
  const matching = groups.items.filter(
    (it) => within(it.queue, queue, queues) && (cause === undefined || it.cause === cause),
  )
  if (groups.isAll) return { count: matching.reduce((sum, { count }) => sum + count, 0), estimate }
  const all = await depthOf(call)
  return {
    count: all.filter((it) => within(it.queue, queue, queues)).reduce((sum, { depth }) => sum + depth, 0),
    estimate: true,
  }
}

/** Undefined where nothing cheap bounds it. */
export async function totalOfJobs(call: Call, wanted: JobsWanted): Promise<Total | undefined> {
  const { state, queue, queues, kind } = wanted
  if (state === 'archived') return totalOfDead(call, wanted)
  if (queue === undefined && queues === undefined) {
    const counts: Readonly<Record<string, number>> = await call.once('counts', () => call.client.jobs.counts())
    const count = state === undefined ? Object.values(counts).reduce((sum, n) => sum + n, 0) : (counts[state] ?? 0)
    return { count, estimate: kind !== undefined }
  }
  // Of ended jobs nobody knows how many a queue has without counting them.
  if (state === undefined || ['completed', 'failed', 'cancelled', 'discarded'].includes(state)) return undefined
  const all = await call.once('queues', () => call.client.queues.list())
  const count = all
    .filter((it) => within(it.queue, queue, queues))
    .reduce((sum, { counts = {} }) => sum + ((counts as Record<string, number>)[state] ?? 0), 0)
  return { count, estimate: kind !== undefined }
}

export function depthOf(call: Call) {
  return call.once('depth', () => call.client.dlq.depthByQueue())
}

function within(name: string, queue: string | undefined, queues: readonly string[] | undefined): boolean {
  return queue === undefined ? (queues?.includes(name) ?? true) : name === queue
}
