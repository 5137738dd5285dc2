import type { Lead, Notice, Upkeep } from '../store/store.js'
import type { Duty } from './duty.js'

const BUSY_MS = 250
const MOVING_MS = 1_000
const IDLE_MS = 120_000
/** A look reads over dead rows, so after a slow one the next comes later. */
const SHARE = 20
const LONGEST_REST_MS = 2_000

/** How often the rings are looked at: often while there is space to give back, hardly ever while nothing moves. */
export class Turning {
  private intervalMs = BUSY_MS
  private activity = ''

  constructor(private readonly store: Pick<Upkeep, 'turnRings'>) {}

  async pass(): Promise<number> {
    const from = performance.now()
    const { rotated, truncated, carried, moving } = await this.store.turnRings()
    const tookMs = performance.now() - from
    if (rotated + truncated + carried > 0) this.intervalMs = BUSY_MS
    else if (moving) this.intervalMs = Math.min(this.intervalMs * 1.5, MOVING_MS)
    else this.intervalMs = Math.min(this.intervalMs * 2, IDLE_MS)
    return Math.max(this.intervalMs, Math.min(tookMs * SHARE, LONGEST_REST_MS))
  }

  heard(notice: Notice, duty: Duty): void {
    if (notice.type === 'ready') this.hurry(duty)
  }

  looked({ activity }: Lead, duty: Duty): void {
    if (activity !== this.activity) this.hurry(duty)
    this.activity = activity
  }

  private hurry(duty: Duty): void {
    if (duty.nextInMs <= MOVING_MS) return
    this.intervalMs = BUSY_MS
    duty.wake(BUSY_MS)
  }
}
