import { AssertionError } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import type { Job } from '../job/job.js'
import { LIVE_STATES } from '../job/states.js'
import type { Inspecting } from '../store/store.js'

export interface EnqueuedPattern {
  readonly kind: string
  readonly queue?: string
  /** The payload has at least these fields, each deeply equal. */
  readonly payload?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
  readonly uniqueKey?: string
  /** Default: at least 1. */
  readonly count?: number
}

const PAGE = 500

/**
 * Asserts that a job like this waits or runs, and returns those found, newest first, with their payloads. Reads every
 * live job of the kind, so it is for tests.
 *
 * @throws `AssertionError` with what was found of the kind.
 *
 * @example
 * const [job] = await assertEnqueued(store, { kind: 'send_mail', payload: { to: 'ada@example.com' } })
 */
export async function assertEnqueued(
  store: Pick<Inspecting, 'listJobs' | 'getJob'>,
  pattern: EnqueuedPattern,
): Promise<readonly Job[]> {
  const all = await liveJobs(store, pattern)
  const found = all.filter((job) => matches(job, pattern))
  const { count } = pattern
  if (count === undefined ? found.length > 0 : found.length === count) return found
  const { count: _, ...wanted } = pattern
  throw new AssertionError({
    message:
      `${found.length} live jobs match ${JSON.stringify(wanted)}, ${count ?? 'at least 1'} expected; ` +
      `of kind ${pattern.kind} there are: ${JSON.stringify(all.slice(0, 10).map(({ id, queue, payload }) => ({ id, queue, payload })))}`,
    actual: found.length,
    expected: count ?? 1,
    operator: 'assertEnqueued',
  })
}

/** Asserts that no live job is like this. */
export async function assertNotEnqueued(
  store: Pick<Inspecting, 'listJobs' | 'getJob'>,
  pattern: Omit<EnqueuedPattern, 'count'>,
): Promise<void> {
  await assertEnqueued(store, { ...pattern, count: 0 })
}

async function liveJobs(
  store: Pick<Inspecting, 'listJobs' | 'getJob'>,
  { kind, queue }: EnqueuedPattern,
): Promise<readonly Job[]> {
  const jobs: Job[] = []
  for (const state of LIVE_STATES) {
    let cursor: string | undefined
    do {
      const page = await store.listJobs(
        { state, kind, ...(queue !== undefined && { queue }) },
        { limit: PAGE, ...(cursor !== undefined && { cursor }) },
      )
      for (const { id } of page.items) {
        const job = await store.getJob(id, { payload: true })
        if (job) jobs.push(job)
      }
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
  }
  return jobs
}

function matches(job: Job, { payload, tags, uniqueKey }: EnqueuedPattern): boolean {
  if (uniqueKey !== undefined && job.uniqueKey !== uniqueKey) return false
  if (tags?.some((tag) => !job.tags.includes(tag))) return false
  const stored = job.payload as Readonly<Record<string, unknown>> | null | undefined
  return Object.entries(payload ?? {}).every(([key, value]) => isDeepStrictEqual(stored?.[key], value))
}
