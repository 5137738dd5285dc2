/** Counts failed logins by address, and says when one has had too many. */
export class Throttle {
  private readonly failures = new Map<string, { count: number; until: number }>()

  constructor(
    private readonly most: number,
    private readonly windowMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Seconds to wait; 0: none. */
  waitFor(address: string): number {
    const found = this.failures.get(address)
    if (found === undefined || found.count < this.most) return 0
    return Math.max(0, Math.ceil((found.until - this.now()) / 1_000))
  }

  failed(address: string): void {
    const now = this.now()
    const found = this.failures.get(address)
    if (found !== undefined && found.until > now) {
      found.count++
      return
    }
    if (this.failures.size >= MAX_ADDRESSES) this.forget(now)
    this.failures.set(address, { count: 1, until: now + this.windowMs })
  }

  private forget(now: number): void {
    for (const [address, { until }] of this.failures) if (until <= now) this.failures.delete(address)
    // Very many addresses at once: the oldest go, so that memory is bounded.
    for (const address of this.failures.keys()) {
      if (this.failures.size < MAX_ADDRESSES) return
      this.failures.delete(address)
    }
  }
}

const MAX_ADDRESSES = 10_000
