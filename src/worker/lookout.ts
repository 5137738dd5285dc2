import type { Pulse, WorkerSession } from '../store/store.js'

/** What a lookout asks of its worker. */
export interface LookoutHost {
  session(): WorkerSession | undefined
  /** Whether there is anything to look for: not before the start, nor after the end. */
  isLooking(): boolean
  /** Whether to look again after a while. */
  goesOn(): boolean
  /** Whether notices arrive, so that looking is only for what they miss. */
  hasNotices(): boolean
  /** What was learned. */
  learn(pulse: Pulse, session: WorkerSession): Promise<void>
  policyChanged(): void
  /** It has looked, whether or not that went well. */
  onLooked(): void
  report(service: string, error: unknown): void
}

/**
 * Looks up from time to time, and when told: for aborts, policies and work that no notice told of. Knows from that how
 * late it is for the store, and when the database last answered.
 */
export class Lookout {
  private offset = 0
  private contactAt = 0
  private policyVersion = ''
  private idlePolls = 0
  private isPulsing = false
  private again = false
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly pollMs: number | undefined,
    private readonly host: LookoutHost,
  ) {}

  /** The store's clock minus this process's, in ms. */
  get offsetMs(): number {
    return this.offset
  }

  /** Since the database last answered, in ms, on the monotonic clock. */
  get silentMs(): number {
    return performance.now() - this.contactAt
  }

  /** Looks now; once more where it is told to meanwhile. */
  async look(): Promise<void> {
    const session = this.host.session()
    if (!session || !this.host.isLooking()) return
    if (this.isPulsing) {
      this.again = true
      return
    }
    this.isPulsing = true
    clearTimeout(this.timer)
    try {
      do {
        this.again = false
        const pulse = await session.pulse()
        this.offset = pulse.storeTime - Date.now()
        this.contactAt = performance.now()
        this.hearOfPolicy(pulse.policyVersion)
        await this.host.learn(pulse, session)
        this.idlePolls = pulse.waiting.length > 0 ? 0 : this.idlePolls + 1
      } while (this.again)
    } catch (error) {
      this.host.report('poll', error)
    } finally {
      this.isPulsing = false
      // Not while stopping: aborts are all that is left to hear, and stop() sends its own.
      if (this.host.goesOn()) this.timer = setTimeout(() => void this.look(), this.nextPollMs())
    }
    this.host.onLooked()
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private hearOfPolicy(version: string): void {
    if (this.policyVersion === version) return
    if (this.policyVersion !== '') this.host.policyChanged()
    this.policyVersion = version
  }

  private nextPollMs(): number {
    if (this.pollMs !== undefined) return this.pollMs
    if (this.host.hasNotices()) return 2_000
    return Math.min(2_000, 250 * 2 ** Math.max(0, this.idlePolls - 4))
  }
}
