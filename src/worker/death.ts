import type { Job } from '../job/job.js'
import type { JobEnd } from '../store/store.js'

/** What a death handler is told. The death is durable by then. */
export interface DeathEvent {
  /** The job as it gave up. */
  readonly job: Job
  readonly reason: string
  readonly error: string | null
  readonly errorClass: string | null
  readonly cause: string
  readonly generation: number
  /** `archived`; on a queue without a dead-letter queue `failed`, or `gone` where that keeps none. */
  readonly state: 'archived' | 'failed' | 'gone'
}

export type DeathHandler = (event: DeathEvent) => unknown

const PATIENCE_MS = 30_000

interface Death {
  readonly job: Job
  readonly end: Extract<JobEnd, { event: 'dead' }>
  readonly state: DeathEvent['state']
}

/** Calls the handlers one after the other; one that throws or takes longer than 30 s is reported and passed over. */
export async function tellOfDeath(
  handlers: readonly DeathHandler[],
  { job, end, state }: Death,
  report: (error: unknown) => void,
): Promise<void> {
  const event: DeathEvent = {
    job: { ...job, state: state === 'gone' ? 'failed' : state, attempt: job.attempt + end.charge, reason: end.reason },
    reason: end.reason,
    error: end.errorMessage,
    errorClass: end.errorClass,
    cause: end.cause,
    generation: job.generation,
    state,
  }
  for (const handler of handlers) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`a death handler took longer than ${PATIENCE_MS / 1000} s`)),
        PATIENCE_MS,
      )
      timer.unref()
    })
    try {
      await Promise.race([handler(event), late])
    } catch (error) {
      report(error)
    } finally {
      clearTimeout(timer)
    }
  }
}
