import { SpillwayError } from '../job/errors.js'
import type { Job } from '../job/job.js'
import type { Call, Principal } from './call.js'

/** What a caller whose token names queues sees and reaches: those queues, as if there were no others. */

export function reaches({ queues }: Principal, queue: string): boolean {
  return queues === null || queues.includes(queue)
}

/** @throws `forbidden` where a queue is named that the caller does not reach. */
export function checkQueue({ principal }: Call, queue: string | undefined): void {
  if (queue === undefined || reaches(principal, queue)) return
  throw new SpillwayError(
    'forbidden',
    `cannot reach queue ${JSON.stringify(queue.slice(0, 60))} as ${principal.actor}: the token is for ${principal.queues?.join(', ')}`,
  )
}

/** A filter or selector as the caller may have it. */
export function narrowed<T extends { readonly queue?: string | undefined }>(
  call: Call,
  filter: T,
): T & { readonly queue?: string; readonly queues?: readonly string[] } {
  checkQueue(call, filter.queue)
  const { queues } = call.principal
  const { queue, ...rest } = filter
  const narrow =
    queue !== undefined
      ? { queue }
      : queues === null
        ? {}
        : queues.length === 1
          ? { queue: queues[0] as string }
          : { queues }
  return { ...(rest as T), ...narrow }
}

/**
 * The one queue that is meant; undefined: all of them.
 *
 * @throws `forbidden`; `selector_refused` where a token of several queues names none.
 */
export function oneQueue(call: Call, queue: string | undefined): string | undefined {
  checkQueue(call, queue)
  const { queues } = call.principal
  if (queue !== undefined || queues === null) return queue
  if (queues.length === 1) return queues[0]
  throw new SpillwayError('selector_refused', `cannot do this without a queue: name one of ${queues.join(', ')}`)
}

/** The job, where the caller reaches it: what lies in other queues is not there for them. */
export async function jobFor(call: Call, id: string, options: { readonly payload: boolean }): Promise<Job | undefined> {
  const job = await call.client.jobs.get(id, options)
  return job !== undefined && reaches(call.principal, job.queue) ? job : undefined
}

/** @throws `not_found` where the job is in no queue of the caller's. Looks only where there is something to look for. */
export async function checkReach(call: Call, id: string): Promise<void> {
  if (call.principal.queues === null) return
  if ((await jobFor(call, id, { payload: false })) === undefined) throw noJob(id)
}

/** Which of these the caller reaches, and which not. */
export async function reachable(
  call: Call,
  ids: readonly string[],
): Promise<{ readonly within: readonly string[]; readonly beyond: readonly string[] }> {
  if (call.principal.queues === null) return { within: ids, beyond: [] }
  const within: string[] = []
  const beyond: string[] = []
  for (const id of ids) {
    const isThere = (await jobFor(call, id, { payload: false })) !== undefined
    ;(isThere ? within : beyond).push(id)
  }
  return { within, beyond }
}

/** Whether none of these jobs lies in a queue that the caller does not reach. What is gone lies in none. */
export async function noneBeyond(call: Call, ids: readonly string[]): Promise<boolean> {
  if (call.principal.queues === null) return true
  for (const id of ids) {
    const job = await call.client.jobs.get(id, { payload: false })
    if (job !== undefined && !reaches(call.principal, job.queue)) return false
  }
  return true
}

/** @throws `forbidden` for a token of some queues: what is changed here holds for all. */
export function wholeStore({ principal }: Call): void {
  if (principal.queues === null) return
  throw new SpillwayError(
    'forbidden',
    `cannot do this as ${principal.actor}: the token is for ${principal.queues.join(', ')}, and this is about all queues`,
  )
}

export function noJob(id: string): SpillwayError {
  return new SpillwayError('not_found', `cannot find job ${id.slice(0, 40)}: it is in no state any more, or never was`)
}
