import type { ClaimedJob, Settled, Settlement, WorkerSession } from '../store/store.js'

/** How an attempt ended, and how long it took. */
export interface Ended extends Settlement {
  readonly durationMs: number
}

const BATCH = 500
const IN_FLIGHT = 2

/**
 * Collects how attempts ended and writes them in batches: at most 500 a statement, two statements at a time. Nothing
 * waits for company: what ends while the connections are busy forms the next batch.
 */
export class SettleBuffer {
  private waiting: Ended[] = []
  private readonly batches = new Set<readonly Ended[]>()
  private writing = 0
  private scheduled = false
  private readonly drained: (() => void)[] = []

  constructor(
    private readonly session: () => WorkerSession,
    private readonly onSettled: (ended: Ended, settled: Settled) => void,
    private readonly onError: (error: unknown) => void,
    private readonly onRoom: () => void,
  ) {}

  /** Settlements that are not written yet. */
  get size(): number {
    return this.waiting.length + this.writing
  }

  /** Jobs whose leases are still held for what is not written yet. */
  unwritten(): ClaimedJob[] {
    return [...this.waiting, ...[...this.batches].flat()].map(({ job }) => job)
  }

  push(settlement: Ended): void {
    this.waiting.push(settlement)
    this.schedule()
  }

  /** Resolves when everything pushed so far is written or refused. */
  async empty(): Promise<void> {
    if (this.size === 0) return
    await new Promise<void>((resolve) => this.drained.push(resolve))
  }

  private schedule(): void {
    if (this.scheduled || this.batches.size >= IN_FLIGHT) return
    this.scheduled = true
    // After the handlers of this turn have ended, so that they go together.
    setImmediate(() => {
      this.scheduled = false
      while (this.batches.size < IN_FLIGHT && this.waiting.length > 0) void this.write(this.waiting.splice(0, BATCH))
    })
  }

  private async write(batch: Ended[]): Promise<void> {
    this.batches.add(batch)
    this.writing += batch.length
    try {
      const settled = await this.session().settle(batch)
      for (let n = 0; n < batch.length; n++) this.onSettled(batch[n] as Ended, settled[n] as Settled)
    } catch (error) {
      // The leases run out, and the jobs are taken back from this worker: late, never lost.
      this.onError(error)
      for (const settlement of batch) this.onSettled(settlement, { outcome: 'lost', state: null })
    } finally {
      this.batches.delete(batch)
      this.writing -= batch.length
      if (this.waiting.length > 0) this.schedule()
      if (this.size === 0) for (const resolve of this.drained.splice(0)) resolve()
      this.onRoom()
    }
  }
}
