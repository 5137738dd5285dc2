import type { Operation, RegisteredWorker } from '../store/store.js'

/** What is asked about the store while an operation holds. */
export interface Surroundings {
  workers(): Promise<readonly RegisteredWorker[]>
  /** Queues in which jobs wait to be claimed: where the rows of an operation are that names no queue. */
  waitingQueues(): Promise<readonly string[]>
}

const LIMIT_MS = 10_000
const LOOK_EVERY_MS = 1_000
/** A worker that was silent for longer takes nothing. */
const STALE_MS = 45_000

/**
 * Tells when a retry waits for workers that are not there: it holds, for its canaries or because enough of its jobs
 * wait, and for ten seconds no live worker took from the queue they went to.
 */
export class Unserved {
  private since: number | undefined
  private lookedAt = Number.NEGATIVE_INFINITY
  private moved = -1

  /** @param queue - Where the rows go; undefined when each goes where it died. */
  constructor(
    private readonly around: Surroundings,
    private readonly queue: string | undefined,
    private readonly onUnserved: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** To be called with every step. */
  update(operation: Operation): void {
    const now = this.now()
    const isHolding = this.isHolding(operation)
    if (!isHolding) this.since = undefined
    else if (now - this.lookedAt >= LOOK_EVERY_MS) {
      this.lookedAt = now
      // What cannot be asked is not known; the operation itself reports a store that is gone.
      void this.look(now).catch(() => undefined)
    }
  }

  private isHolding({ action, state, phase, rate, succeeded }: Operation): boolean {
    const hasMoved = succeeded !== this.moved
    this.moved = succeeded
    const waits = phase === 'canary' || (phase === 'moving' && rate === null)
    return action === 'retry' && state === 'running' && waits && !hasMoved
  }

  private async look(at: number): Promise<void> {
    const workers = await this.around.workers()
    const live = workers.filter((it) => it.state === 'running' && Date.now() - it.heartbeatAt.getTime() < STALE_MS)
    const queues = this.queue === undefined ? await this.around.waitingQueues() : [this.queue]
    const isServed = live.some((it) => queues.some((queue) => it.queues.includes(queue)))
    if (isServed || queues.length === 0) this.since = undefined
    else this.since ??= at
    if (this.since !== undefined && this.now() - this.since >= LIMIT_MS) this.onUnserved()
  }
}
