import type { Notice } from '../store.js'
import type { Database } from './database.js'
import type { Floors, Head } from './floors.js'
import type { claimQueries, Wanted } from './queries/claim.js'
import { ASIDE_ROWS, type setAsideQueries } from './queries/set-aside.js'

/** What takes longer rests this many times as long. */
const SHARE = 20
const REST_MS = 1_000
/** Between batches of what is set aside, however slow they are. */
const LONGEST_PAUSE_MS = 3_000
/** Where there was nothing to set aside it is tried less and less often. */
const LONGEST_REST_MS = 30_000

export interface PassingParts {
  readonly queue: string
  readonly floors: Floors
  /** Not the connection of the claims: what is done here takes longer than they do. */
  readonly db: Database
  readonly claims: Pick<ReturnType<typeof claimQueries>, 'passed' | 'passedOthers'>
  readonly setAside: ReturnType<typeof setAsideQueries>['setAside']
  readonly tell: (notice: Notice) => void
}

/** Rows of one slot and priority that a claim has met and left, from the first of them to where it had looked. */
interface Stretch {
  readonly slot: number
  readonly priority: number
  from: bigint
  to: bigint
}

/**
 * What the claims of one worker pass over at the heads of a queue: kinds and versions that it does not serve, and rows
 * that others are at.
 *
 * A claim walks over them once. A look from the beginning sees them again and again, and would send the next claim back
 * to walk over all of them, so heads inside a stretch that is known do not lower the floors. What came to stand among
 * them late, or is served after all, is looked for beside the claims; so is what nobody serves, to set it aside.
 */
export class Passing {
  private readonly stretches = new Map<string, Stretch>()
  private wanted: Wanted | undefined
  private looking: Promise<void> | undefined
  private clearing: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined
  private nextLookAt = 0
  private nextClearAt = 0
  private idleMs = REST_MS
  private isClosed = false

  constructor(private readonly parts: PassingParts) {}

  /** Nothing is passed over: the heads that a look sees are all there is to claim from. */
  get isEmpty(): boolean {
    return this.stretches.size === 0
  }

  /** What the claims that follow take. True: what was left for another reason is forgotten, and to be looked for. */
  follow(wanted: Wanted): boolean {
    const isOther = !this.isEmpty && wanted.key !== this.wanted?.key
    if (isOther) this.stretches.clear()
    this.wanted = wanted
    return isOther
  }

  /** A claim has left the row at `head`, and has looked as far as `to`. */
  note({ slot, priority, position }: Head, to: bigint): void {
    const stretch = this.stretches.get(keyOf(slot, priority))
    if (stretch) {
      if (position < stretch.from) stretch.from = position
      if (to > stretch.to) stretch.to = to
    } else {
      this.stretches.set(keyOf(slot, priority), { slot, priority, from: position, to })
      this.idleMs = REST_MS
    }
    this.clearSoon()
  }

  /** Of the heads that a look has seen, those a claim has not met yet. Stretches that none of them is in have ended. */
  unmet(heads: readonly Head[]): Head[] {
    if (this.isEmpty) return [...heads]
    const seen = new Map(heads.map((head) => [keyOf(head.slot, head.priority), head.position]))
    for (const [key, { from, to }] of this.stretches) {
      const position = seen.get(key)
      if (position === undefined || position < from || position > to) this.stretches.delete(key)
    }
    if (!this.isEmpty) this.clearSoon()
    return heads.filter(({ slot, priority }) => !this.stretches.has(keyOf(slot, priority)))
  }

  /** Looks among what was passed over for something to claim, and lowers the floor to it. At most once a second. */
  lookBehind(): Promise<void> {
    if (this.isEmpty || this.isClosed || performance.now() < this.nextLookAt) return Promise.resolve()
    this.looking ??= this.look()
      // The rows stand where they stood, and the next look is a second away.
      .catch(() => undefined)
      .finally(() => {
        this.looking = undefined
      })
    return this.looking
  }

  /** Resolves when nothing of it is under way any more. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await Promise.all([this.looking, this.clearing])
  }

  private async look(): Promise<void> {
    const { queue, floors, db, claims } = this.parts
    const { kinds, common, pairs, except } = this.wanted as Wanted
    const startedAt = performance.now()
    for (const { slot, priority, from } of [...this.stretches.values()]) {
      const params = [
        queue,
        priority,
        String(from),
        String(floors.floor(priority, slot)),
        kinds,
        common,
        pairs,
      ] as const
      const [row] = except
        ? await db.run(claims.passedOthers[slot] as (typeof claims.passedOthers)[number], [...params, ...except], READ)
        : await db.run(claims.passed[slot] as (typeof claims.passed)[number], [...params], READ)
      if (row) floors.lower(priority, BigInt(row[0]), slot)
    }
    this.nextLookAt = performance.now() + Math.max(REST_MS, (performance.now() - startedAt) * SHARE)
  }

  private clearSoon(): void {
    if (this.isClosed || this.clearing || performance.now() < this.nextClearAt) return
    this.clearing = this.clear()
      // They are still there for the next try.
      .catch(() => undefined)
      .finally(() => {
        this.clearing = undefined
      })
  }

  /** A batch of each stretch, where it is of nobody's kinds; more of them follow by themselves. */
  private async clear(): Promise<void> {
    const { queue, db, setAside, tell } = this.parts
    const startedAt = performance.now()
    // Also where it fails.
    this.nextClearAt = startedAt + REST_MS
    let isMore = false
    for (const { slot, priority } of [...this.stretches.values()]) {
      const [row] = await db.run(setAside[slot] as (typeof setAside)[number], [queue, priority])
      const [moved, dueInMs] = row ?? ['0', null]
      if (dueInMs !== null) tell({ type: 'due', at: Date.now() + Number(dueInMs) })
      isMore ||= Number(moved) >= ASIDE_ROWS
    }
    const endedAt = performance.now()
    this.idleMs = isMore ? REST_MS : Math.min(this.idleMs * 2, LONGEST_REST_MS)
    // A slow batch is one that others have slowed down: no reason to be at it for minutes.
    const shareMs = (endedAt - startedAt) * SHARE
    const restMs = isMore ? Math.min(shareMs, LONGEST_PAUSE_MS) : Math.max(shareMs, this.idleMs)
    this.nextClearAt = endedAt + restMs
    if (!isMore || this.isClosed) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.clearSoon(), restMs + 1)
    this.timer.unref()
  }
}

const READ = { repeatable: true, patienceMs: 0 } as const

function keyOf(slot: number, priority: number): string {
  return `${slot} ${priority}`
}
