import type { Listening, Store } from '../store/store.js'
import type { Maintenance } from './maintenance.js'

/** The duties in a process that runs no jobs, such as a server: it hears notices itself. */
export class StandingMaintenance {
  private listening: Listening | undefined
  private stopped: Promise<void> | undefined

  constructor(
    private readonly store: Pick<Store, 'listen'>,
    private readonly maintenance: Maintenance,
  ) {}

  async start(): Promise<void> {
    if (this.stopped) return
    this.listening = await this.store.listen((notice) => this.maintenance.heard(notice))
    if (this.stopped) await this.listening.close()
    else await this.maintenance.start()
  }

  /** Gives the lead up, within 3 s. May be called twice, before {@link start}, and during it. */
  stop(): Promise<void> {
    this.stopped ??= this.end()
    return this.stopped
  }

  private async end(): Promise<void> {
    await this.maintenance.stop()
    await this.listening?.close()
  }
}
