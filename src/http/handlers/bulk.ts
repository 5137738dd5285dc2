import type { z } from 'zod'
import type { ActOptions } from '../../client/act.js'
import type { BulkRetryOptions } from '../../client/bulk-options.js'
import type { RetryOptions } from '../../client/retry.js'
import { isSpillwayError, SpillwayError } from '../../job/errors.js'
import type { Job } from '../../job/job.js'
import type { Selector } from '../../job/selector.js'
import { Answered, acting, type Call } from '../call.js'
import { defined } from '../defined.js'
import type { bulkRetryBody, cloneBody, jobsBulkBody, retryBody } from '../inputs.js'
import type { ACTION_RIGHTS } from '../route.js'
import { checkQueue, narrowed, noJob, reachable, reaches } from '../scope.js'
import { refuseReplacing } from './unique-keys.js'

type BulkAction = z.output<typeof jobsBulkBody>['action']
type BulkBody = Partial<z.output<typeof bulkRetryBody>>
type Overrides = NonNullable<BulkBody['overrides']>
type RetryTerms = Pick<BulkBody, 'budget' | 'on_conflict' | 'force' | 'overrides' | 'reason'>

const AT_ONCE = 1_000

/** Whose routes it came by, and the attempts that a retry gives there unless told otherwise. */
const BUDGETS = { dlq: 'fresh', jobs: 'keep' } as const

/** What a retry or clone changes about the job, in the client's words. */
export function overridesOf(
  body: Overrides &
    Pick<Partial<z.output<typeof retryBody>>, 'budget' | 'on_conflict' | 'force'> &
    Partial<z.output<typeof cloneBody>>,
): RetryOptions {
  const { queue, priority, run_at: runAt, delay, max_attempts: maxAttempts, deadline, budget, force } = body
  const { on_conflict: onConflict } = body
  const given = { queue, priority, runAt, delay, maxAttempts, deadline, budget, force, onConflict }
  return { ...defined(given), ...(body.payload === undefined ? {} : { payload: body.payload }) }
}

/** Acts on at most 1,000 jobs and says of each what became of it. Among jobs a purge takes all that are not live. */
export async function actOnIds(
  call: Call,
  action: keyof typeof ACTION_RIGHTS,
  ids: readonly string[],
  body: RetryTerms,
  among: keyof typeof BUDGETS,
): Promise<unknown> {
  checkQueue(call, body.overrides?.queue)
  refuseReplacing(call, body.on_conflict)
  if (action !== 'retry') refuseRetryTerms(action, body)
  const { within, beyond } = await reachable(call, ids)
  const unknown = beyond.map((id) => ({ id, code: 'not_found', message: noJob(id).message }))
  const { client } = call
  const act = acting(call, body)
  if (within.length === 0) return { succeeded: [], failed: unknown }
  if (action === 'cancel' || action === 'kill' || action === 'promote') {
    const { succeeded, failed } = await oneByOne(within, (id) => client.jobs[action](id, act))
    return { succeeded, failed: [...unknown, ...failed] }
  }
  if (action === 'release') {
    const { succeeded, failed } = await release(call, within, act)
    return { succeeded, failed: [...unknown, ...failed] }
  }
  const budget = BUDGETS[among]
  const terms = action === 'retry' ? { budget, ...overridesOf({ ...body.overrides, ...termsOf(body) }) } : {}
  const result =
    action === 'purge' && among === 'jobs'
      ? await client.jobs.purgeIds(within, act)
      : await client.dlq[`${action}Ids`](within, { ...terms, ...act })
  return { ...result, failed: [...unknown, ...result.failed] }
}

/** Begins bulk work. Named ids alone, at most 1,000, are acted on before the answer. */
export async function beginBulk(
  call: Call,
  action: BulkAction,
  body: BulkBody,
  among: keyof typeof BUDGETS,
): Promise<unknown> {
  checkQueue(call, body.overrides?.queue)
  refuseReplacing(call, body.on_conflict)
  const { ids, dry_run: dryRun, rate, preview, max_waiting: maxWaiting, canary, abort_above: abortAbove, hold } = body
  const pace = defined({ dryRun, rate, preview, maxWaiting, canary, abortAbove, hold })
  if (action !== 'retry') refuseRetryTerms(action, body)
  if (ids !== undefined && body.selector !== undefined) {
    throw new SpillwayError('selector_refused', 'cannot take both ids and a selector: put the ids into the selector')
  }
  if (ids !== undefined && ids.length <= AT_ONCE && Object.keys(pace).length === 0) {
    return new Answered(200, await actOnIds(call, action, ids, body, among))
  }
  const budget = BUDGETS[among]
  const terms = action === 'retry' ? { budget, ...overridesOf({ ...body.overrides, ...termsOf(body) }) } : {}
  const options: BulkRetryOptions = { ...pace, ...terms, ...acting(call, body) }
  const handle = await client(call, action, await scopeOf(call, body), options)
  return new Answered(202, handle.started)
}

function client(call: Call, action: BulkAction, selector: Selector, options: BulkRetryOptions) {
  return call.client.dlq[`${action}Many`](selector, options)
}

/** @throws `selector_refused` where nothing is named; `operation_not_found` for a preview of another's queues. */
async function scopeOf(call: Call, { selector, ids, preview }: BulkBody): Promise<Selector> {
  if (preview !== undefined) {
    if (selector !== undefined || ids !== undefined) {
      throw new SpillwayError('selector_refused', 'cannot take a preview and a selector: the preview has its own')
    }
    const seen = await call.client.operations.get(preview)
    // What a token of some queues has looked at names them; what names none may be about all.
    if (seen !== undefined && !(namesReached(call, seen) ?? call.principal.queues === null)) {
      throw new SpillwayError('operation_not_found', `cannot find operation ${preview}`)
    }
    return {}
  }
  const { dlq_reason, allow_all, ...given } = selector ?? {}
  const wanted = defined({
    ...given,
    ...(ids && { ids }),
    reason: given.reason ?? dlq_reason,
    all: given.all ?? allow_all,
  })
  const { queues } = call.principal
  const outside = queues === null ? undefined : given.queues?.find((queue) => !queues.includes(queue))
  checkQueue(call, outside)
  checkQueue(call, given.queue)
  if (given.queues !== undefined) return wanted as Selector
  return narrowed(call, wanted) as Selector
}

interface OperationLike {
  readonly selector: Selector
  readonly createdBy: string
}

/**
 * Whether the caller may know of an operation: one on queues they reach, or on named jobs, which were acted on at once,
 * under their own name. Several tokens may have one name, and not all of them the same queues.
 */
export function seesOperation(call: Call, operation: OperationLike): boolean {
  const { principal } = call
  if (principal.queues === null) return true
  const isOwn = operation.selector.ids !== undefined && operation.createdBy === principal.actor
  return namesReached(call, operation) ?? isOwn
}

/** Whether the caller reaches every queue that an operation names; undefined where it names none. */
export function namesReached({ principal }: Call, { selector }: Pick<OperationLike, 'selector'>): boolean | undefined {
  const named = selector.queue === undefined ? selector.queues : [selector.queue]
  return named?.every((queue) => reaches(principal, queue))
}

function termsOf({ budget, on_conflict, force }: RetryTerms) {
  return defined({ budget, on_conflict, force })
}

function refuseRetryTerms(action: string, { budget, on_conflict, force, overrides }: RetryTerms): void {
  const given = Object.entries({ budget, on_conflict, force, overrides }).find(([, value]) => value !== undefined)
  if (given === undefined) return
  throw new SpillwayError('invalid_option', `cannot ${action} with ${given[0]}: only a retry has it`)
}

/** Quarantined jobs go as they are, undecodable ones where they decode now; the code for these is asked only once. */
async function release({ client }: Call, ids: readonly string[], act: ActOptions) {
  const { succeeded, failed } = await client.quarantine.releaseIds(ids, act)
  const elsewhere = failed.filter(({ code }) => code === 'invalid_state').map(({ id }) => id)
  const undecodable = await idsIn(client, 'undecodable', elsewhere)
  if (undecodable.length === 0) return { succeeded, failed }
  const decoded = await client.undecodable.release({ ids: undecodable }, act)
  const others = failed.filter(({ id }) => !undecodable.includes(id))
  const still = decoded.failed.map(({ id, code, message }) => ({ id, code, message }))
  return { succeeded: [...succeeded, ...decoded.succeeded], failed: [...others, ...still] }
}

async function idsIn(client: Call['client'], state: Job['state'], ids: readonly string[]): Promise<readonly string[]> {
  const jobs = await Promise.all(ids.map((id) => client.jobs.get(id, { payload: false })))
  return jobs.flatMap((job) => (job?.state === state ? job.id : []))
}

async function oneByOne(ids: readonly string[], work: (id: string) => Promise<unknown>) {
  const succeeded: string[] = []
  const failed: { id: string; code: string; message: string }[] = []
  for (const id of ids) {
    try {
      await work(id)
      succeeded.push(id)
    } catch (error) {
      // A store that is away is no answer about this id; nor is a fault of ours.
      if (!isSpillwayError(error) || error.code === 'internal' || error.code === 'store_unavailable') throw error
      failed.push({ id, code: error.code, message: error.message })
    }
  }
  return { succeeded, failed }
}
