import type { Eventing } from '../store/store.js'

const BATCH = 1_000
/** How soon it looks again after some came: whoever writes events does not tell of each. */
const AGAIN_MS = 250
/** What commits late is found a second later. */
const LATE_MS = 1_000
const LATE_LOOKS = 2

/** When events are given positions: while they come, and a little longer, for those that commit late. */
export class Sequencing {
  private looksLeft = 0

  constructor(private readonly store: Pick<Eventing, 'sequenceEvents'>) {}

  /** @param onEvents - Called when there are new positions. Resolves with the ms until the next pass. */
  async pass(onEvents: () => void): Promise<number> {
    const moved = await this.store.sequenceEvents(BATCH)
    if (moved > 0) {
      this.looksLeft = LATE_LOOKS
      onEvents()
      return moved >= BATCH ? 0 : AGAIN_MS
    }
    return this.looksLeft-- > 0 ? LATE_MS : Number.POSITIVE_INFINITY
  }
}
