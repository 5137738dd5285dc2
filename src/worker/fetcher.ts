import type { ClaimedJob, WorkerSession } from '../store/store.js'
import type { Isolation } from './isolation.js'
import type { QueueSlots } from './queue-slots.js'

/** What a fetcher asks of its worker. */
export interface FetcherHost {
  session(): WorkerSession
  isRunning(): boolean
  /** Attempts that have ended and are not written yet. */
  unwritten(): number
  begin(job: ClaimedJob, slots: QueueSlots): void
  /** The claim's answer may be lost: what it took is to be handed back. */
  onFailed(error: unknown): void
  /** There is nothing to claim for now. */
  onRest(): void
}

/** Claims jobs for the free places of every queue, one claim at a time. */
export class Fetcher {
  private fetching = false
  private again = false

  constructor(
    private readonly slots: readonly QueueSlots[],
    private readonly isolation: Isolation,
    private readonly host: FetcherHost,
  ) {}

  get isBusy(): boolean {
    return this.fetching
  }

  /** Begins to claim; once more where it is called meanwhile. */
  fetch(): void {
    this.isolation.step()
    if (!this.isTaking) return
    if (this.fetching) {
      this.again = true
      return
    }
    this.fetching = true
    void this.fetchAll().finally(() => {
      this.fetching = false
      this.isolation.step()
      if (this.again) this.fetch()
      else this.host.onRest()
    })
  }

  /** Not while a suspect is to run alone. */
  private get isTaking(): boolean {
    return this.host.isRunning() && !this.isolation.holds
  }

  private async fetchAll(): Promise<void> {
    do {
      this.again = false
      for (const slots of this.slots) {
        // Finished attempts that are not written yet still hold leases: not more than twice the slots in all.
        while (this.isTaking && slots.wants && this.host.unwritten() < slots.concurrency + 500) await this.claim(slots)
      }
    } while (this.again && this.isTaking)
  }

  private async claim(slots: QueueSlots): Promise<void> {
    const { free } = slots
    slots.isFetching = true
    try {
      const jobs = await this.host.session().claim(slots.queue, free, slots.resting(), (some) => {
        for (const job of some) this.host.begin(job, slots)
      })
      if (jobs.length < free) slots.isHungry = slots.wasHeard
      slots.wasHeard = false
    } catch (error) {
      slots.isHungry = false
      this.host.onFailed(error)
    } finally {
      slots.isFetching = false
    }
  }
}
