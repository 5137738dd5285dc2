import { type CauseMemo, causeOfDeath } from '../job/cause.js'
import { decodeJob, type StoredPayload } from '../job/decode.js'
import type { JobHandler } from '../job/definition.js'
import { entryJson } from '../job/history.js'
import type { Outcome } from '../job/outcome.js'
import { type AttemptFacts, settle } from '../job/settle.js'
import { returnedOutcome, thrownOutcome } from '../job/signals.js'
import { describeThrown } from '../job/thrown.js'
import type { Validated } from '../job/validate.js'
import type { ClaimedJob, JobEnd } from '../store/store.js'
import type { Attempt } from './attempt.js'

export interface ExecutorOptions {
  readonly handlers: ReadonlyMap<string, JobHandler>
  readonly workerName: string
  /** The store's clock minus this process's, in ms. */
  readonly clockOffset: () => number
  /** How long reading a payload may take. Default: 10 s. */
  readonly decodeMs?: number
}

const DECODE_MS = 10_000

/**
 * One attempt, step by step: find the handler, read the payload, run, say how it ended. Every step answers; none
 * throws, whatever the payload is and whatever the handler throws.
 */
export class Executor {
  private readonly causes: CauseMemo = new Map()

  constructor(private readonly options: ExecutorOptions) {}

  handlerOf({ kind }: { readonly kind: string }): JobHandler | undefined {
    return this.options.handlers.get(kind)
  }

  /**
   * Reads the payload as the handler's kind and version want it; at once where there is no schema that waits. What takes
   * too long is not read: a schema that never settles would keep the slot for good.
   */
  decode(job: StoredPayload, { definition }: JobHandler): Validated | Promise<Validated> {
    const { decodeMs = DECODE_MS } = this.options
    const late: Validated = {
      ok: false,
      path: '',
      message: `reading the payload took longer than ${decodeMs} ms, and other jobs wait for it`,
    }
    const startedAt = performance.now()
    const decoded = decodeJob(job, definition)
    if (!(decoded instanceof Promise)) return performance.now() - startedAt > decodeMs ? late : decoded
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(late), decodeMs)
      void decoded.then((answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
    })
  }

  /** Runs the handler; whatever it does becomes an outcome, told to `ended` at once or when it settles. Never throws. */
  run(attempt: Attempt, handler: JobHandler, payload: unknown, ended: (outcome: Outcome) => void): void {
    let outcome: Outcome
    try {
      const returned = handler.run(payload, attempt)
      if (isThenable(returned)) {
        // Handed on as it is: each promise in between costs as much as the rest of a short attempt.
        const settling = returned instanceof Promise ? returned : Promise.resolve(returned)
        void settling.then(
          (value) => ended(attempt.decided ?? returnedOutcome(value)),
          (error: unknown) => ended(attempt.decided ?? thrownOutcome(error)),
        )
        return
      }
      outcome = returnedOutcome(returned)
    } catch (error) {
      outcome = thrownOutcome(error)
    }
    ended(attempt.decided ?? outcome)
  }

  /** How the job ends, given how its attempt did. */
  endOf(attempt: Attempt, handler: JobHandler | undefined, outcome: Outcome): JobEnd {
    // What a worker does 50,000 times a second: no facts have to be gathered for it.
    if (outcome.type === 'completed' && outcome.result === undefined && attempt.claimed.deadlineInMs === null) {
      return COMPLETED
    }
    const { claimed } = attempt
    const now = new Date(Date.now() + this.options.clockOffset())
    const settlement = settle(this.facts(attempt), outcome, {
      now,
      random: Math.random(),
      backoff: handler?.definition.backoff ?? undefined,
    })
    switch (settlement.type) {
      case 'complete':
        return { event: 'complete', result: settlement.resultJson }
      case 'retry':
        return {
          event: 'retry',
          delayMs: settlement.delayMs,
          charge: settlement.attempt > claimed.attempt ? 1 : 0,
          entry: entryJson(settlement.entry),
        }
      case 'dead': {
        const { entry, reason } = settlement
        return {
          event: 'dead',
          reason,
          charge: settlement.attempt > claimed.attempt ? 1 : 0,
          entry: entryJson(entry),
          ...causeOfDeath(claimed.kind, reason, entry, this.causes),
        }
      }
      case 'snooze':
        return { event: 'snooze', delayMs: settlement.delayMs }
      case 'revoke':
        return { event: 'revoke' }
      case 'wait': {
        const { callbackId, name, retryDelayMs } = settlement
        return { event: 'wait', callbackId, name, retryDelayMs }
      }
      // The store counts hand-backs and parks the job at the tenth.
      case 'handback':
      case 'park':
        return { event: 'handback' }
    }
  }

  /** The payload cannot be read: the handler was not entered, and nothing is charged. */
  parked(attempt: Attempt, path: string, message: string): JobEnd {
    const { generation, attempt: failures, leaseId } = attempt.claimed
    const reason = path ? `${path}: ${message}` : message
    return {
      event: 'undecodable',
      reason: reason.slice(0, 500),
      entry: entryJson({
        type: 'undecodable',
        at: new Date(Date.now() + this.options.clockOffset()),
        startedAt: new Date(attempt.startedAt + this.options.clockOffset()),
        generation,
        attempt: failures,
        leaseId,
        worker: this.options.workerName,
        path,
        message,
      }),
    }
  }

  /** The history entry of a death that the user's code could not go along with. */
  deathTxFailed({ generation, attempt, leaseId }: ClaimedJob, error: unknown): string {
    const at = new Date(Date.now() + this.options.clockOffset())
    const of = { generation, attempt, leaseId, worker: this.options.workerName }
    return entryJson({ type: 'death_tx_failed', at, startedAt: null, ...of, ...describeThrown(error) })
  }

  private facts({ claimed, startedAt }: Attempt): AttemptFacts {
    const offset = this.options.clockOffset()
    return {
      attempt: claimed.attempt,
      crashAttempt: claimed.crashAttempt,
      maxAttempts: claimed.maxAttempts,
      chargeBase: claimed.chargeBase,
      generation: claimed.generation,
      handbacks: claimed.handbacks,
      deadline: claimed.deadlineInMs === null ? null : new Date(startedAt + offset + claimed.deadlineInMs),
      leaseId: claimed.leaseId,
      worker: this.options.workerName,
      startedAt: new Date(startedAt + offset),
    }
  }
}

const COMPLETED: JobEnd = { event: 'complete', result: null }

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
