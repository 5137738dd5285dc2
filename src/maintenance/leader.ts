import { randomUUID } from 'node:crypto'
import type { Lead, Passes, Upkeep } from '../store/store.js'

export interface LeaderOptions {
  readonly name: string
  /** How long the lease holds without a renewal, which comes every half of it. */
  readonly ttlMs: () => number
  /** How the duties of this process fare, told with each renewal. */
  readonly passes: () => Passes
  /** The lease was taken or kept; `isNew` when this process did not have it before. */
  readonly onLead: (look: Lead, isNew: boolean) => void
  readonly onError: (error: Error) => void
}

/**
 * Keeps asking for a lease in the database, so that one process at a time does the maintenance.
 *
 * A leader that is killed is replaced within one and a half `ttlMs`. One that cannot reach the database stops believing
 * in its lease when it runs out, on its own clock. Leading only saves double work: every duty is safe beside itself.
 */
export class Leader {
  private readonly holder = randomUUID()
  private leadsUntil = 0
  private timer: NodeJS.Timeout | undefined
  private asking: Promise<void> | undefined
  private isStarted = false
  private isStopped = false

  constructor(
    private readonly store: Pick<Upkeep, 'lead' | 'resign'>,
    private readonly options: LeaderOptions,
  ) {}

  get isLeading(): boolean {
    return !this.isStopped && performance.now() < this.leadsUntil
  }

  /** Resolves when it has asked for the first time; never rejects. */
  async start(): Promise<void> {
    if (this.isStarted || this.isStopped) return
    this.isStarted = true
    await this.ask()
  }

  /** Gives the lease up, so that another process need not wait for its end. May be called twice and before the start. */
  async stop(): Promise<void> {
    if (this.isStopped) return
    const wasLeading = this.isLeading
    this.isStopped = true
    clearTimeout(this.timer)
    await this.asking
    // Not given up, it runs out.
    if (wasLeading) await this.store.resign(this.options.name, this.holder).catch(this.options.onError)
  }

  private ask(): Promise<void> {
    this.asking = this.askOnce().then((nextInMs) => {
      if (this.isStopped) return
      this.timer = setTimeout(() => void this.ask(), nextInMs)
      this.timer.unref()
    })
    return this.asking
  }

  private async askOnce(): Promise<number> {
    const { name, passes, onLead, onError } = this.options
    const ttlMs = this.options.ttlMs()
    const askedAt = performance.now()
    try {
      const look = await this.store.lead(name, this.holder, ttlMs, passes())
      if (!look.leading) {
        this.leadsUntil = 0
        // The holder will have renewed it by then, or it is free.
        return Math.max(0, Math.min(look.expiresInMs, ttlMs)) + ttlMs * (0.01 + 0.04 * Math.random())
      }
      // Also when the answer came too late: what was to run meanwhile did not.
      const isNew = !this.isLeading
      this.leadsUntil = askedAt + ttlMs
      if (!this.isStopped) onLead(look, isNew)
      return ttlMs / 2
    } catch (error) {
      onError(error as Error)
      return ttlMs / 10
    }
  }
}
