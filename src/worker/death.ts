import type { DeathEvent, DeathHandler } from '../job/death.js'
import type { Job } from '../job/job.js'
import { decodePayload } from '../job/payload.js'
import type { ClaimedJob, JobEnd, Settled } from '../store/store.js'
import { asJob } from './attempt.js'

type DeathEnd = Extract<JobEnd, { event: 'dead' }>

/** How a death that this worker wrote is told: the job as it gave up, whatever its queue keeps of it. */
export function deathOf(claimed: ClaimedJob, end: DeathEnd, state: DeathEvent['state'], now: Date): DeathEvent {
  const { reason, cause, errorClass, errorMessage } = end
  const decoded = decodePayload(claimed.payload, { bigint: true })
  const job: Job = {
    ...asJob(claimed, now.getTime()),
    ...(decoded.ok ? { payload: decoded.value } : {}),
    payloadText: claimed.payload,
    state: state === 'gone' ? 'failed' : state,
    attempt: claimed.attempt + end.charge,
    handbacks: 0,
    finalizedAt: now,
    reason: state === 'archived' ? null : reason,
    dlq:
      state === 'archived'
        ? { reason, dlqAt: now, originalRunLease: claimed.runLease, cause, errorClass, errorMessage }
        : null,
  }
  return { job, reason, error: errorMessage, errorClass, cause, generation: claimed.generation, state }
}

/** Where a job that was given up has gone, of what its settlement says. */
export function reachedBy(state: Settled['state']): DeathEvent['state'] {
  return state === 'failed' || state === 'gone' ? state : 'archived'
}

/** Calls death handlers, and knows which of them are still at it. */
export class DeathTeller {
  private readonly telling = new Set<Promise<void>>()

  constructor(
    private readonly handlers: readonly DeathHandler[],
    private readonly patienceMs: number,
    private readonly report: (error: unknown) => void,
  ) {}

  get isNeeded(): boolean {
    return this.handlers.length > 0
  }

  /** One handler after the other; one that throws or takes too long is reported and passed over. */
  tell(event: DeathEvent): void {
    if (!this.isNeeded) return
    const told = this.tellAll(event).finally(() => this.telling.delete(told))
    this.telling.add(told)
  }

  /** Resolves when the handlers under way have ended, or after `ms`. */
  async ended(ms: number): Promise<void> {
    if (this.telling.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([Promise.all(this.telling), late]).finally(() => clearTimeout(timer))
  }

  private async tellAll(event: DeathEvent): Promise<void> {
    for (const handler of this.handlers) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error(`a death handler took longer than ${this.patienceMs} ms; the next one was called`)),
          this.patienceMs,
        )
        timer.unref()
      })
      try {
        await Promise.race([handler(event), late])
      } catch (error) {
        this.report(error)
      } finally {
        clearTimeout(timer)
      }
    }
  }
}
