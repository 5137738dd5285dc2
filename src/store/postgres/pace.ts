/** Rows of the first batch, of the largest while somebody takes them, and of the largest while nobody does. */
const FIRST = 20
const BESIDE_WORKERS = 50
const UNTAKEN = 1_000
const SMALLEST = 10
/** Nothing taken for so long: nobody is at it, or what waits is for others than those who take. */
const STUCK_MS = 250
const LOOK_MS = 20
/** The share of its time that a retry leaves to the jobs it runs beside. */
const REST = 2

/**
 * How fast a retry without a rate adds rows: no faster than they are taken. Fresh jobs of the same queue and priority
 * stand behind what was added before them, so a batch is added when the last one is gone, and is as large as what goes
 * quickly. `maxWaiting` bounds what piles up where nobody takes any.
 *
 * Only a guess of one runner, held in memory: another runner begins to guess anew.
 */
export class Pace {
  private size = FIRST
  /** What waits for somebody who is not there. */
  private floor = 0
  private left = 0
  private takenAt: number
  private isStuck = false
  private isHalved = false

  constructor(now: number) {
    this.takenAt = now
  }

  /**
   * How many rows to add now, 0: not yet.
   *
   * @param waiting - Rows of the operation that wait to be claimed.
   * @param now - Milliseconds of any one clock.
   */
  room(waiting: number, maxWaiting: number, now: number): number {
    if (waiting < this.left) {
      this.takenAt = now
      this.isStuck = false
    }
    this.left = waiting
    this.floor = Math.min(this.floor, waiting)
    const isGone = waiting <= this.floor
    if (!isGone && !this.isStuck && now - this.takenAt >= STUCK_MS) this.isStuck = true
    const open = maxWaiting - waiting
    // Not for a handful: every batch costs as much as some dozen rows.
    if (open < Math.min(SMALLEST, maxWaiting)) return 0
    if (this.isStuck) {
      this.floor = waiting
      this.size = Math.min(this.size * 2, UNTAKEN)
    } else if (isGone) {
      if (!this.isHalved) this.size *= 2
      this.size = Math.min(this.size, BESIDE_WORKERS)
      this.isHalved = false
    } else {
      if (!this.isHalved) this.size = Math.max(SMALLEST, Math.floor(this.size / 2))
      this.isHalved = true
      return 0
    }
    return Math.min(this.size, open)
  }

  /** Notes what was added. @returns how long to wait before the next look, in ms. */
  added(rows: number, tookMs: number): number {
    this.left += rows
    return Math.max(LOOK_MS, Math.ceil(tookMs * REST))
  }
}

/** Until the next look when there was no room. */
export const NO_ROOM_MS = LOOK_MS
