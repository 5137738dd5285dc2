import type { Turned } from '../store.js'
import type { Database } from './database.js'
import { RINGS, type Ring, ringQueries, type SlotRow } from './queries/rings.js'
import { decideTurn, type RingLook } from './ring-turn.js'

export interface RingOptions {
  /** How long a slot must have been left before its stragglers are carried forward. Default: 30 s. */
  readonly carryAfterMs?: number
}

const CARRY_AFTER_MS = 30_000
/** Each update of a straggler may cost somebody a repetition, so a crowded slot is left alone. */
const CARRY_ROWS = 1_000

/**
 * Turns both rings. It only gives space back: everything is right whichever slot a row is in, and whatever of it does
 * not happen.
 */
export function turningRings(db: Database, schema: string, { carryAfterMs = CARRY_AFTER_MS }: RingOptions) {
  const queries = ringQueries(schema)
  /** Since when a slot was seen behind the head with rows in it, on this process's clock. */
  const leftAt = new Map<string, number>()
  let before = ''

  async function turn(ring: Ring, look: RingLook): Promise<Omit<Turned, 'moving'>> {
    const now = performance.now()
    const leftForMs = (slot: number) => now - (leftAt.get(`${ring}_${slot}`) ?? now)
    for (const { slot, live } of look.slots) {
      const name = `${ring}_${slot}`
      if (slot === look.head || !live) leftAt.delete(name)
      else if (!leftAt.has(name)) leftAt.set(name, now)
    }

    const { reclaim, rotateTo, carry } = decideTurn(look, leftForMs, carryAfterMs)
    let truncated = 0
    for (const slot of reclaim) truncated += await reclaimed(ring, slot)
    const rotated = rotateTo === null ? 0 : (await db.run(queries.rotate, [ring, look.head, rotateTo])).length
    let carried = 0
    if (carry !== null) {
      const [row] = await db.run(queries.carry[ring][carry]!, [CARRY_ROWS])
      carried = Number(row![0])
      if (carried > 0) truncated += await reclaimed(ring, carry)
    }
    return { rotated, truncated, carried }
  }

  async function reclaimed(ring: Ring, slot: number): Promise<0 | 1> {
    const [row] = await db.run(queries.reclaim, [ring, slot])
    return row![0] === 't' ? 1 : 0
  }

  return async function turnRings(): Promise<Turned> {
    const rows = await db.run(queries.look, [])
    const signature = rows.map(([, , bytes, live, , , positions]) => `${bytes}${live}${positions}`).join()
    const moving = signature !== before
    before = signature

    const turned = { rotated: 0, truncated: 0, carried: 0 }
    for (const ring of RINGS) {
      const { rotated, truncated, carried } = await turn(ring, lookOf(ring, rows))
      turned.rotated += rotated
      turned.truncated += truncated
      turned.carried += carried
    }
    return { ...turned, moving }
  }
}

function lookOf(ring: Ring, rows: readonly SlotRow[]): RingLook {
  const own = rows.filter((row) => row[0] === ring)
  const [, , , , head, headAgeMs, positions, truncatedAgeMs, rotateRows, rotateMs] = own[0]!
  return {
    slots: own.map(([, slot, bytes, live]) => ({ slot: Number(slot), bytes: Number(bytes), live: live === 't' })),
    head: Number(head),
    headAgeMs: Number(headAgeMs),
    entered: ring === 'ready' ? Number(positions) : 0,
    truncatedAgeMs: Number(truncatedAgeMs),
    rotateRows: Number(rotateRows),
    rotateMs: Number(rotateMs),
  }
}
