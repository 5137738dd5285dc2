/** The places of one queue in one worker: how many are taken, and whether there may be work for the free ones. */
export class QueueSlots {
  /** Handlers that run. */
  taken = 0
  /** Of these, handlers whose attempt was settled over their heads. */
  stuck = 0
  /** Jobs claimed since the start. */
  claimed = 0
  isPaused = false
  /** There may be something to claim. */
  isHungry = true
  /** Work was announced while a claim was under way that may not have seen it. */
  wasHeard = false
  isFetching = false
  private readonly rests = new Map<string, number>()

  constructor(
    readonly queue: string,
    readonly concurrency: number,
  ) {}

  get free(): number {
    return this.concurrency - this.taken
  }

  get wants(): boolean {
    return this.isHungry && !this.isPaused && this.free > 0
  }

  hear(): void {
    this.isHungry = true
    if (this.isFetching) this.wasHeard = true
  }

  /** Takes no jobs of `kind` for `ms`: a service said it has had enough. */
  rest(kind: string, ms: number): void {
    this.rests.set(kind, Math.max(this.rests.get(kind) ?? 0, performance.now() + ms))
  }

  /** The kinds that rest now. */
  resting(): ReadonlySet<string> | undefined {
    if (this.rests.size === 0) return undefined
    const now = performance.now()
    for (const [kind, until] of this.rests) if (until <= now) this.rests.delete(kind)
    return new Set(this.rests.keys())
  }
}
