import { type HeadRow, SLOTS } from './queries/claim.js'

/** Heads as a statement answers them. */
export function headsOf(rows: readonly HeadRow[]): Head[] {
  return rows.map(([, slot, priority, position]) => ({
    slot: Number(slot),
    priority: Number(priority),
    position: BigInt(position),
  }))
}

/** Where the next claim of a queue can go. */
export interface Head {
  readonly slot: number
  readonly priority: number
  readonly position: bigint
}

/**
 * The last position claimed, per priority and slot of one queue: claims look above it.
 *
 * Without floors a claim walks over every dead index entry before the first live row, and when a long reader keeps them
 * from being removed, throughput falls tenfold within 200,000 jobs. A floor is a hint: rows below it are found by the
 * look from the beginning, or at once when a notice names them.
 */
export class Floors {
  private readonly byPriority = new Map<number, bigint[]>()

  /** Takes what a look from the beginning saw: floors do not stand above a row that was seen. */
  see(heads: readonly Head[]): void {
    for (const { priority, position, slot } of heads) this.lower(priority, position, slot)
  }

  /** There is, or will be, a row at `position`; in every slot, where it is not known in which. */
  lower(priority: number, position: bigint, slot?: number): void {
    const floors = this.byPriority.get(priority)
    if (!floors) {
      this.byPriority.set(
        priority,
        SLOTS.map((each) => (slot === undefined || slot === each ? position - 1n : 0n)),
      )
      return
    }
    for (const each of slot === undefined ? SLOTS : [slot]) {
      if ((floors[each] as bigint) >= position) floors[each] = position - 1n
    }
  }

  /**
   * Everything above `from` and up to `position` was claimed, is being claimed, or is not for this worker. A floor that
   * was lowered below `from` meanwhile stays: somebody has seen a row there.
   */
  raise(priority: number, slot: number, from: bigint, position: bigint): void {
    const floors = this.byPriority.get(priority)
    if (floors && from <= (floors[slot] as bigint) && position > (floors[slot] as bigint)) floors[slot] = position
  }

  floor(priority: number, slot: number): bigint {
    return this.byPriority.get(priority)?.[slot] ?? 0n
  }

  get isEmpty(): boolean {
    return this.byPriority.size === 0
  }

  /** The parameters of the `heads` statement: priorities, then one array of floors per slot. */
  params(): [priorities: string, ...floors: string[]] {
    const known = [...this.byPriority]
    return [
      `{${known.map(([priority]) => priority).join(',')}}`,
      ...SLOTS.map((slot) => `{${known.map(([, floors]) => floors[slot]).join(',')}}`),
    ]
  }
}
