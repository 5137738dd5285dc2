import type { ClaimedJob, Store, WorkerInfo, WorkerSession } from '../store/store.js'

/** What a presence asks of its worker. */
export interface PresenceHost {
  isStopped(): boolean
  /** Every job whose lease the worker still holds. */
  held(): readonly ClaimedJob[]
  onRegistered(registration: string): void
  /** The registration was ended: what it held is another's by now. */
  onEnded(): Promise<void>
  report(service: string, error: unknown): void
}

/** Under which registration the store knows this process, and that it goes on knowing it. */
export class Presence {
  /** Of the registration; undefined before the first. */
  session: WorkerSession | undefined
  private timer: NodeJS.Timeout | undefined
  private isBeating = false

  constructor(
    private readonly store: Store,
    private readonly info: WorkerInfo,
    private readonly host: PresenceHost,
  ) {}

  async register(): Promise<void> {
    const before = this.session
    this.session = await this.store.register(this.info)
    await before?.close()
    this.host.onRegistered(this.session.registration)
  }

  beatEvery(ms: number): void {
    this.timer = setInterval(() => void this.beat(), ms)
  }

  /** Goes on saying that it is alive, without keeping the process for it. */
  letGoOfProcess(): void {
    this.timer?.unref()
  }

  /** Says that it is alive, and learns whether it still counts as such. */
  async beat(): Promise<void> {
    const { session } = this
    if (!session || this.isBeating || this.host.isStopped()) return
    this.isBeating = true
    try {
      if (await session.beat(this.host.held())) return
      await this.host.onEnded()
      // Cut off, not dead: nobody is to be charged for that.
      await this.store.survived(session.registration)
    } catch (error) {
      this.host.report('heartbeat', error)
    } finally {
      this.isBeating = false
    }
  }

  stopBeating(): void {
    clearInterval(this.timer)
  }
}
