import type { ClaimedJob, Settled, Settlement, WorkerSession } from '../store/store.js'

/** How an attempt ended, and how long it took. */
export interface Ended extends Settlement {
  readonly durationMs: number
}

const BATCH = 500
const IN_FLIGHT = 2
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 15_000

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
  /** What the database refused: tried again while the lease is held, so that no handler runs twice. */
  private readonly refused = new Set<Ended>()
  private readonly tries = new Map<Ended, number>()

  constructor(
    private readonly session: () => WorkerSession,
    private readonly onSettled: (ended: Ended, settled: Settled) => void,
    private readonly onError: (error: unknown) => void,
    private readonly onRoom: () => void,
  ) {}

  /** Settlements that are not written yet. */
  get size(): number {
    return this.waiting.length + this.writing + this.refused.size
  }

  /** Jobs whose leases are still held for what is not written yet. */
  unwritten(): ClaimedJob[] {
    return [...this.waiting, ...[...this.batches].flat(), ...this.refused].map(({ job }) => job)
  }

  push(settlement: Ended): void {
    this.waiting.push(settlement)
    this.schedule()
  }

  /** Resolves when everything is written or lost, or after `ms`. */
  async empty(ms: number): Promise<void> {
    if (this.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.drained.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
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
      for (let n = 0; n < batch.length; n++) this.answered(batch[n]!, settled[n]!)
    } catch (error) {
      for (const ended of batch) this.answered(ended, { outcome: 'refused', state: null, error })
    } finally {
      this.batches.delete(batch)
      this.writing -= batch.length
      if (this.waiting.length > 0) this.schedule()
      if (this.size === 0) for (const resolve of this.drained.splice(0)) resolve()
      this.onRoom()
    }
  }

  private answered(ended: Ended, settled: Settled): void {
    const tries = this.tries.get(ended) ?? 0
    if (settled.outcome !== 'refused') {
      if (tries > 0) this.tries.delete(ended)
      this.onSettled(ended, settled)
      return
    }
    if (tries === 0) this.onError(settled.error)
    this.tries.set(ended, tries + 1)
    this.refused.add(ended)
    setTimeout(
      () => {
        this.refused.delete(ended)
        this.push(ended)
      },
      Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS),
    ).unref()
  }
}
