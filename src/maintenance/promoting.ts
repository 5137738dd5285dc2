import type { Lead, Notice, Upkeep } from '../store/store.js'
import type { Duty } from './duty.js'

const BATCH = 1_000
/** Without notices nobody tells of a job that is due sooner than those known. */
const POLL_MS = 1_000

/**
 * When deferred jobs are looked at: when the next known one is due. One that is due sooner is told of by a notice, or
 * found by the leader's look every few seconds.
 */
export class Promoting {
  private isTold = false

  constructor(private readonly store: Pick<Upkeep, 'promote'>) {}

  async pass(): Promise<number> {
    const { nextInMs } = await this.store.promote(BATCH)
    const pollMs = this.isTold ? Number.POSITIVE_INFINITY : POLL_MS
    // A ms more, because both clocks are read in whole ones.
    return nextInMs === null ? pollMs : Math.min(nextInMs === 0 ? 0 : nextInMs + 1, pollMs)
  }

  heard(notice: Notice, duty: Duty): void {
    if (notice.type === 'resync') this.isTold = true
    // The notice's time is another clock's, so it is only compared; the pass that follows learns the store's.
    else if (notice.type === 'due' && notice.at - Date.now() < duty.nextInMs) duty.wake()
  }

  looked({ nextDueInMs }: Lead, duty: Duty): void {
    if (nextDueInMs !== null) duty.wake(Math.max(0, nextDueInMs))
  }
}
