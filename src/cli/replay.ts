import { type JobHandler, kindsOf } from '../job/definition.js'
import { SpillwayError } from '../job/errors.js'
import type { Job } from '../job/job.js'
import type { Outcome } from '../job/outcome.js'
import { describeThrown, type ThrownRecord } from '../job/thrown.js'
import { servedVersions } from '../job/versions.js'
import type { ClaimedJob, OpenCallback } from '../store/store.js'
import { Attempt } from '../worker/attempt.js'
import { Executor } from '../worker/executor.js'

/** How an attempt here went. */
export interface Replayed {
  readonly id: string
  readonly kind: string
  readonly outcome: Outcome['type'] | 'timeout' | 'undecodable'
  /** Whether the job would be no better off after a retry. */
  readonly failed: boolean
  readonly durationMs: number
  readonly error?: ThrownRecord
  readonly result?: unknown
  readonly details?: unknown
  /** Of a skip. */
  readonly code?: string
  readonly delayMs?: number
}

/**
 * Runs the handler of a dead letter in this process as its first attempt after a retry would: same reading of the
 * payload, same limit of time. Nothing is stored, whatever the handler does.
 *
 * @param onProgress - Given what the handler reports as its progress.
 * @throws `unknown_kind` where no handler serves the job's kind and version.
 */
export async function replay(
  job: Job,
  handlers: readonly JobHandler[],
  onProgress: (value: unknown) => void,
): Promise<Replayed> {
  const handler = handlers.find(({ definition }) => kindsOf(definition).includes(job.kind))
  if (!handler || !servedVersions(handler.definition).includes(job.version)) {
    throw new SpillwayError(
      'unknown_kind',
      `cannot replay job ${job.id}: the module has no handler for ${job.kind} version ${job.version}`,
    )
  }
  const executor = new Executor({ handlers: new Map(), workerName: 'replay', clockOffset: () => 0 })
  const claimed = claimedFrom(job)
  const attempt = new Attempt(claimed, {
    keepProgress: async (_, value) => onProgress(value),
    // Nobody can answer here: a handler that waits ends with `wait`.
    openCallback: async () => OPEN,
    callbackAnswer: async () => OPEN,
    callbackUrl: 'https://replay.invalid/callbacks',
  })
  const began = performance.now()
  const about = { id: job.id, kind: job.kind }
  const decoded = await executor.decode(claimed, handler)
  if (!decoded.ok) {
    const error = describeThrown(
      new Error(decoded.path === '' ? decoded.message : `${decoded.path}: ${decoded.message}`),
    )
    return { ...about, outcome: 'undecodable', failed: true, durationMs: 0, error: { ...error, stack: null } }
  }
  const limit = job.timeoutMs ?? handler.definition.timeoutMs
  const timedOut = new Promise<'timeout'>((resolve) => {
    if (limit === null) return
    attempt.after(limit, () => {
      attempt.abort('timeout')
      resolve('timeout')
    })
  })
  const ended = new Promise<Outcome>((resolve) => executor.run(attempt, handler, decoded.value, resolve))
  const outcome = await Promise.race([ended, timedOut])
  attempt.clearTimers()
  const durationMs = Math.round(performance.now() - began)
  if (outcome === 'timeout') {
    const error = describeThrown(new Error(`the attempt took longer than its ${limit} ms`))
    return { ...about, outcome, failed: true, durationMs, error: { ...error, stack: null } }
  }
  return { ...about, durationMs, ...toldOf(outcome) }
}

const OPEN: OpenCallback = { id: '0', state: 'open', answer: null, waitsUntil: null }

function toldOf(outcome: Outcome): Omit<Replayed, 'id' | 'kind' | 'durationMs'> {
  switch (outcome.type) {
    case 'completed':
      return { outcome: 'completed', failed: false, ...(outcome.result !== undefined && { result: outcome.result }) }
    case 'failed':
      return { outcome: 'failed', failed: true, error: describeThrown(outcome.error) }
    case 'retryAfter':
      return { outcome: 'retryAfter', failed: true, delayMs: outcome.delayMs, error: describeThrown(outcome.error) }
    case 'skip': {
      const { code, details } = outcome
      return { outcome: 'skip', failed: true, code, ...(details !== undefined && { details }) }
    }
    case 'snooze':
    case 'rateLimited':
      return { outcome: outcome.type, failed: false, delayMs: outcome.delayMs }
    default:
      return { outcome: outcome.type, failed: false }
  }
}

/** The job as its first attempt after a retry finds it. */
function claimedFrom(job: Job): ClaimedJob {
  const { id, queue, kind, version, priority, maxAttempts, uniqueKey, tags, timeoutMs, createdAt, runAt } = job
  return {
    ...{ id, queue, kind, version, priority, maxAttempts, uniqueKey, tags, timeoutMs, createdAt, runAt },
    payload: job.payloadText ?? 'null',
    attempt: 0,
    crashAttempt: 0,
    chargeBase: 0,
    runLease: 1,
    generation: job.generation + 1,
    handbacks: 0,
    metadata: job.metadata === null ? null : JSON.stringify(job.metadata),
    deadlineInMs: null,
    leaseId: '0',
    releaseId: null,
  }
}
