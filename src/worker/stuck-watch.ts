import type { QueueSlots } from './queue-slots.js'

/** Places whose handlers ignore their signal, of all there are. */
export interface StuckSlots {
  readonly slots: number
  readonly of: number
}

/** Sees when handlers that ignore their signal hold half the slots: then only a new process helps. */
export class StuckWatch {
  private reported = false

  constructor(
    private readonly slots: readonly QueueSlots[],
    private readonly onHalf: (stuck: StuckSlots) => void,
  ) {}

  /** It was seen. */
  get isReported(): boolean {
    return this.reported
  }

  now(): StuckSlots {
    return {
      slots: this.slots.reduce((sum, { stuck }) => sum + stuck, 0),
      of: this.slots.reduce((sum, { concurrency }) => sum + concurrency, 0),
    }
  }

  /** To be called when another one is stuck. */
  check(): void {
    if (this.reported || !isHalf(this.now())) return
    // One more turn, for handlers that end as soon as their signal aborts.
    setTimeout(() => {
      const still = this.now()
      if (this.reported || !isHalf(still)) return
      this.reported = true
      this.onHalf(still)
    }, 1_000).unref()
  }
}

function isHalf({ slots, of }: StuckSlots): boolean {
  return slots * 2 >= of
}
