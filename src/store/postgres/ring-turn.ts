/** What is known of a ring of slots when it is decided whether to turn it. */
export interface RingLook {
  /** By number. */
  readonly slots: readonly { readonly slot: number; readonly bytes: number; readonly live: boolean }[]
  /** Where new rows go. */
  readonly head: number
  readonly headAgeMs: number
  /** Rows that entered since the head became it; 0 where nobody counts. */
  readonly entered: number
  readonly truncatedAgeMs: number
  /** A slot with so many rows, or so old, is left for the next one. */
  readonly rotateRows: number
  readonly rotateMs: number
}

export interface RingTurn {
  /** Slots to truncate, those next to be taken first. */
  readonly reclaim: readonly number[]
  readonly rotateTo: number | null
  /** The slot whose stragglers go to the head. */
  readonly carry: number | null
}

/** About the bytes of a row with a small payload; large ones fill a slot sooner. */
const ROW_BYTES = (8 * 1024 * 1024) / 20_000
/** Below, there is nothing worth a rotation: some hundred rows. */
const SMALL_BYTES = 64 * 1024
/** A truncation costs a few ms of disk, so small slots wait until the last one is a second ago. */
const LARGE_BYTES = 1024 * 1024
const REST_MS = 1_000
/** With fewer empty slots than this ahead, the ring is about to be stuck. */
const FEW_EMPTY = 2
/** One pass stays short; the next one goes on. */
const MOST_TRUNCATED = 4

/** What to do with a ring. Pure; `leftForMs` says how long a slot has been behind the head with rows in it. */
export function decideTurn(look: RingLook, leftForMs: (slot: number) => number, carryAfterMs: number): RingTurn {
  const { slots, head, headAgeMs, truncatedAgeMs } = look
  const own = slots[head]!
  // In the order in which they would be taken: the one left longest ago comes first.
  const behind = slots.map((_, step) => slots[(head + 1 + step) % slots.length]!).filter(({ slot }) => slot !== head)

  const empty = behind.filter(({ bytes }) => bytes === 0)
  const drained = behind.filter(({ bytes, live }) => bytes > 0 && !live)
  const isHurried = empty.length <= FEW_EMPTY || truncatedAgeMs >= REST_MS
  const reclaim = drained.filter(({ bytes }) => isHurried || bytes >= LARGE_BYTES).map(({ slot }) => slot)

  const isFull =
    own.bytes >= look.rotateRows * ROW_BYTES || (look.entered >= look.rotateRows && own.bytes >= SMALL_BYTES)
  const isOld = headAgeMs >= look.rotateMs && own.bytes >= SMALL_BYTES
  // Its dead rows go away once new ones go elsewhere.
  const isDrained = headAgeMs >= REST_MS && own.bytes >= SMALL_BYTES && !own.live
  const rotateTo = isFull || isOld || isDrained ? (empty[0]?.slot ?? null) : null

  const isRunningOut = empty.length - (rotateTo === null ? 0 : 1) < FEW_EMPTY
  const straggling = isRunningOut ? behind.find(({ slot, live }) => live && leftForMs(slot) >= carryAfterMs) : undefined

  return { reclaim: reclaim.slice(0, MOST_TRUNCATED), rotateTo, carry: straggling?.slot ?? null }
}
