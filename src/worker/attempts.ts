import { callbackTimedOut } from '../job/callback.js'
import type { JobHandler } from '../job/definition.js'
import type { Outcome } from '../job/outcome.js'
import type { Validated } from '../job/validate.js'
import type { ClaimedJob, JobEnd, WorkerSession } from '../store/store.js'
import { type AbortCause, Attempt, type AttemptDoors } from './attempt.js'
import type { WorkerEmitter } from './events.js'
import type { Executor } from './executor.js'
import type { QueueSlots } from './queue-slots.js'
import type { Ended } from './settle-buffer.js'

/** What attempts ask of their worker. */
export interface AttemptsHost {
  session(): WorkerSession | undefined
  /** Where not, a job is given back instead of begun. */
  isRunning(): boolean
  /** Writes how one ended. */
  write(ended: Ended): void
  /** A handler has ended, and its place is free. */
  onFree(slots: QueueSlots): void
  /** A handler goes on although its attempt was settled. */
  onStuck(): void
  report(service: string, error: unknown): void
}

/** The attempts under way, each from the claimed job to the end that is written. */
export class Attempts {
  private readonly attempts = new Map<string, Attempt>()
  private readonly doors: AttemptDoors

  constructor(
    private readonly executor: Executor,
    private readonly emitter: WorkerEmitter,
    callbackUrl: string | undefined,
    private readonly host: AttemptsHost,
  ) {
    this.doors = {
      keepProgress: (job, value) => this.keepProgress(job, value),
      openCallback: async (job, request) => this.host.session()?.openCallback(job, request),
      callbackAnswer: async (job, callbackId) => this.host.session()?.callbackAnswer(job, callbackId),
      callbackUrl,
    }
  }

  /** Those included whose handler goes on after its end was written. */
  get size(): number {
    return this.attempts.size
  }

  jobs(): ClaimedJob[] {
    return [...this.attempts.values()].map(({ claimed }) => claimed)
  }

  abort(lease: Lease, why: AbortCause): void {
    this.attempts.get(keyOf(lease))?.abort(why)
  }

  abortAll(why: AbortCause): void {
    for (const attempt of this.attempts.values()) attempt.abort(why)
  }

  begin(job: ClaimedJob, slots: QueueSlots): void {
    const attempt = new Attempt(job, this.doors)
    slots.taken++
    slots.claimed++
    this.attempts.set(keyOf(job), attempt)
    const handler = this.executor.handlerOf(job)
    if (!this.host.isRunning() || !handler) {
      this.finish(attempt, slots, { event: 'handback' })
      return
    }
    if (job.bar !== undefined) {
      this.finish(attempt, slots, { event: job.bar === 'quarantined' ? 'quarantine' : 'handback' })
      return
    }
    if (job.deadlineInMs !== null && job.deadlineInMs <= 0) {
      this.finish(attempt, slots, this.executor.endOf(attempt, handler, { type: 'deadline' }))
      return
    }
    // Sweeps leave deaths of such a kind to its worker: the job may have waited in vain.
    if (handler.definition.onDeathTx && job.runLease > 1) void this.beginUnlessLate(attempt, slots, handler)
    else this.decode(attempt, slots, handler)
  }

  private async beginUnlessLate(attempt: Attempt, slots: QueueSlots, handler: JobHandler): Promise<void> {
    let late: string | undefined
    try {
      late = await this.host.session()?.lateCallback(attempt.claimed)
    } catch (error) {
      // Its handler will meet it at `result()`.
      this.host.report('callbacks', error)
    }
    if (late === undefined) this.decode(attempt, slots, handler)
    else {
      const outcome = { type: 'callbackFailed', error: callbackTimedOut(late), callback: late, isLate: true } as const
      this.finish(attempt, slots, this.executor.endOf(attempt, handler, outcome))
    }
  }

  private decode(attempt: Attempt, slots: QueueSlots, handler: JobHandler): void {
    const job = attempt.claimed
    if (this.emitter.listenerCount('started') > 0) this.emitter.emit('started', { job })
    const decoded = this.executor.decode(job, handler)
    if (decoded instanceof Promise) void decoded.then((answer) => this.enter(attempt, slots, handler, answer))
    else this.enter(attempt, slots, handler, decoded)
  }

  private enter(attempt: Attempt, slots: QueueSlots, handler: JobHandler, decoded: Validated): void {
    if (!decoded.ok) {
      this.finish(attempt, slots, this.executor.parked(attempt, decoded.path, decoded.message))
      return
    }
    const { claimed } = attempt
    const timeoutMs = claimed.timeoutMs ?? handler.definition.timeoutMs
    if (timeoutMs !== null) {
      attempt.after(timeoutMs, () => this.cut(attempt, slots, handler, 'timeout', timedOut(timeoutMs)))
    }
    if (claimed.deadlineInMs !== null) {
      attempt.after(claimed.deadlineInMs, () => this.cut(attempt, slots, handler, 'deadline', { type: 'deadline' }))
    }
    this.executor.run(attempt, handler, decoded.value, (outcome) => this.ended(attempt, slots, handler, outcome))
  }

  /** The handler has returned or thrown. */
  private ended(attempt: Attempt, slots: QueueSlots, handler: JobHandler, outcome: Outcome): void {
    if (outcome.type === 'rateLimited') slots.rest(attempt.claimed.kind, outcome.delayMs)
    if (attempt.isSettled) {
      this.free(attempt, slots)
      return
    }
    // Ended because the worker stops: not its fault, so it is handed back uncharged.
    const gaveWay = attempt.abortedBy === 'shutdown' && outcome.type === 'failed'
    if (attempt.abortedBy === 'lost' || attempt.abortedBy === 'cancelled') {
      attempt.isSettled = true
      this.emitter.emit('lost', { job: attempt.claimed, why: attempt.abortedBy })
      if (attempt.abortedBy === 'cancelled') void this.sayEnded(attempt.claimed)
      this.free(attempt, slots)
      return
    }
    const end: JobEnd = gaveWay ? { event: 'handback' } : this.executor.endOf(attempt, handler, outcome)
    this.finish(attempt, slots, end)
  }

  /** Settles an attempt whose handler still runs; its slot stays taken until the handler really ends. */
  private cut(
    attempt: Attempt,
    slots: QueueSlots,
    handler: JobHandler,
    why: 'timeout' | 'deadline',
    outcome: Outcome,
  ): void {
    if (attempt.isSettled) return
    attempt.isSettled = true
    attempt.clearTimers()
    const end = this.executor.endOf(attempt, handler, outcome)
    attempt.abort(why)
    this.host.write({ job: attempt.claimed, end, durationMs: Date.now() - attempt.startedAt })
    slots.stuck++
    this.host.onStuck()
  }

  private finish(attempt: Attempt, slots: QueueSlots, end: JobEnd): void {
    attempt.isSettled = true
    this.host.write({ job: attempt.claimed, end, durationMs: Date.now() - attempt.startedAt })
    this.free(attempt, slots, false)
  }

  private free(attempt: Attempt, slots: QueueSlots, wasStuck = true): void {
    attempt.clearTimers()
    this.attempts.delete(keyOf(attempt.claimed))
    slots.taken--
    if (wasStuck && slots.stuck > 0 && (attempt.abortedBy === 'timeout' || attempt.abortedBy === 'deadline'))
      slots.stuck--
    this.host.onFree(slots)
  }

  private async sayEnded(job: ClaimedJob): Promise<void> {
    try {
      await this.host.session()?.handlerEnded(job)
    } catch (error) {
      this.host.report('cancel', error)
    }
  }

  private async keepProgress(job: ClaimedJob, value: unknown): Promise<void> {
    const kept = await this.host.session()?.progress(job, JSON.stringify(value) ?? 'null')
    if (kept === false) this.abort(job, 'lost')
  }
}

/** What tells attempts apart: a job may be claimed again while a handler of an earlier lease still runs. */
type Lease = Pick<ClaimedJob, 'id' | 'leaseId'>

function keyOf({ id, leaseId }: Lease): string {
  return `${id} ${leaseId}`
}

function timedOut(timeoutMs: number): Outcome {
  const error = new Error(`the attempt took longer than its timeout of ${timeoutMs} ms`)
  error.name = 'AttemptTimeout'
  return { type: 'failed', error, entry: 'timeout' }
}
