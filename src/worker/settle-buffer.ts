import type { ClaimedJob, Settled, Settlement, WorkerSession } from '../store/store.js'

/** How an attempt ended, and how long it took. */
export interface Ended extends Settlement {
  readonly durationMs: number
}

const BATCH = 500
const IN_FLIGHT = 2
const ALONE_IN_FLIGHT = 2
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
  /** What is written in a transaction of its own: waits, and is under way. */
  private readonly alone: Ended[] = []
  private readonly writingAlone = new Set<Ended>()

  constructor(
    private readonly session: () => WorkerSession,
    private readonly onSettled: (ended: Ended, settled: Settled) => void,
    private readonly onError: (error: unknown) => void,
    private readonly onRoom: () => void,
    /** How an end that cannot go with others is written; undefined where it can. */
    private readonly writeAlone?: (ended: Ended) => (() => Promise<Settled>) | undefined,
  ) {}

  /** Settlements that are not written yet. */
  get size(): number {
    return this.waiting.length + this.writing + this.refused.size + this.alone.length + this.writingAlone.size
  }

  /** Jobs whose leases are still held for what is not written yet. */
  unwritten(): ClaimedJob[] {
    const alone = [...this.alone, ...this.writingAlone]
    return [...this.waiting, ...[...this.batches].flat(), ...this.refused, ...alone].map(({ job }) => job)
  }

  push(settlement: Ended): void {
    if (this.writeAlone && settlement.end.event === 'dead' && this.writeAlone(settlement)) {
      this.alone.push(settlement)
      this.nextAlone()
      return
    }
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

  /** On connections of their own, so that slow ones keep nobody else waiting. */
  private nextAlone(): void {
    while (this.writingAlone.size < ALONE_IN_FLIGHT) {
      const ended = this.alone.shift()
      const write = ended && this.writeAlone?.(ended)
      if (!write) return
      this.writingAlone.add(ended)
      void write()
        .catch((error: unknown): Settled => ({ outcome: 'refused', state: null, error }))
        .then((settled) => {
          this.writingAlone.delete(ended)
          this.answered(ended, settled)
          this.nextAlone()
          this.onWritten()
        })
    }
  }

  private onWritten(): void {
    if (this.size === 0) for (const resolve of this.drained.splice(0)) resolve()
    this.onRoom()
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
      this.onWritten()
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
