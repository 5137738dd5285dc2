import type { Callback, CallbackOptions } from '../job/callback.js'
import type { HandlerContext } from '../job/definition.js'
import type { Job } from '../job/job.js'
import type { Outcome } from '../job/outcome.js'
import type { ClaimedJob } from '../store/store.js'
import { type CallbackDoors, openCallback } from './callbacks.js'

/** Why an attempt was told to stop. Also the `reason` of its signal. */
export type AbortCause = 'timeout' | 'deadline' | 'cancelled' | 'lost' | 'shutdown'

/** What an attempt needs of whoever runs it. */
export interface AttemptDoors extends CallbackDoors {
  keepProgress(job: ClaimedJob, value: unknown): Promise<void>
}

/** The reason a handler finds on its aborted signal. */
export class AttemptAborted extends Error {
  constructor(readonly why: AbortCause) {
    super(`the attempt was aborted: ${why}`)
    this.name = 'AttemptAborted'
  }
}

/**
 * One attempt in progress, and what its handler sees of it. What few handlers use is made when it is asked for: at
 * 50,000 jobs a second an AbortController each is a tenth of the time.
 */
export class Attempt implements HandlerContext {
  readonly startedAt = Date.now()
  /** Settled, whether or not the handler has ended. */
  isSettled = false
  abortedBy: AbortCause | undefined
  /** How it ends, said by a callback: what the handler returns or throws after that changes nothing. */
  decided: Outcome | undefined
  timers: NodeJS.Timeout[] | undefined
  private controller: AbortController | undefined
  private shown: Job | undefined

  constructor(
    readonly claimed: ClaimedJob,
    private readonly doors: AttemptDoors,
  ) {}

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.abortedBy && !this.controller.signal.aborted) this.controller.abort(new AttemptAborted(this.abortedBy))
    return this.controller.signal
  }

  get job(): Job {
    this.shown ??= asJob(this.claimed, this.startedAt)
    return this.shown
  }

  progress(value: unknown): Promise<void> {
    return this.doors.keepProgress(this.claimed, value)
  }

  callback<Answer>(name: string, options: CallbackOptions = {}): Promise<Callback<Answer>> {
    return openCallback<Answer>(this, this.doors, name, options)
  }

  decide(outcome: Outcome): void {
    this.decided ??= outcome
  }

  abort(why: AbortCause): void {
    this.abortedBy ??= why
    this.controller?.abort(new AttemptAborted(why))
  }

  /** Aborts after `ms`; more than 24 days are not watched. */
  after(ms: number, act: () => void): void {
    if (ms > 2_147_483_647) return
    this.timers ??= []
    this.timers.push(setTimeout(act, Math.max(0, ms)))
  }

  clearTimers(): void {
    for (const timer of this.timers ?? []) clearTimeout(timer)
    this.timers = undefined
  }
}

/** A claimed job as every other surface shows a job. */
export function asJob(claimed: ClaimedJob, startedAt: number): Job {
  return {
    id: claimed.id,
    state: 'running',
    queue: claimed.queue,
    kind: claimed.kind,
    version: claimed.version,
    priority: claimed.priority,
    attempt: claimed.attempt,
    crashAttempt: claimed.crashAttempt,
    maxAttempts: claimed.maxAttempts,
    runLease: claimed.runLease,
    generation: claimed.generation,
    handbacks: claimed.handbacks,
    createdAt: claimed.createdAt,
    runAt: claimed.runAt,
    deadline: claimed.deadlineInMs === null ? null : new Date(startedAt + claimed.deadlineInMs),
    timeoutMs: claimed.timeoutMs,
    uniqueKey: claimed.uniqueKey,
    tags: claimed.tags,
    metadata: claimed.metadata === null ? null : JSON.parse(claimed.metadata),
    startedAt: new Date(startedAt),
    finalizedAt: null,
    leaseId: claimed.leaseId,
    reason: null,
    dlq: null,
  }
}
