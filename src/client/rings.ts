import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError, shown } from '../job/errors.js'
import type { Overseeing, Store, StoredRing } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'

export interface RingInput {
  /** Rows after which a slot is left for the next one, 100 to 10,000,000. Default: 20,000. */
  readonly rotateRows?: number | undefined
  /** Its age, 1 s to 24 h. Default: 10 s. */
  readonly rotateAfter?: Duration | undefined
}

const ROWS = { least: 100, most: 10_000_000 }
const AGE = { least: 1_000, most: 86_400_000 }

/** The rings of slots that live jobs lie in. What is set here changes how space is given back, never what happens to a job. */
export class Rings {
  constructor(
    private readonly store: Pick<Store, keyof Overseeing>,
    private readonly actor: string,
  ) {}

  /** Both rings: the slot new rows go to, since when, and what makes it move on. */
  async list(): Promise<readonly StoredRing[]> {
    return this.store.rings()
  }

  /**
   * Changes when the slots of a ring are left for the next one; holds from the next turn on, in every process.
   *
   * @throws `invalid_option` for an unknown ring or key, a value out of range, or nothing to set.
   */
  async set(ring: string, input: RingInput, options: ActOptions = {}): Promise<StoredRing> {
    if (ring !== 'ready' && ring !== 'leases')
      throw new SpillwayError('invalid_option', `cannot find ring ${shown(ring)}: known are ready, leases`)
    const { rotateRows, rotateAfter, ...rest } = input
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined || (rotateRows === undefined && rotateAfter === undefined)) {
      const what = unknown === undefined ? 'nothing' : JSON.stringify(unknown)
      throw new SpillwayError('invalid_option', `cannot set ${what} on a ring: rotateRows and rotateAfter are accepted`)
    }
    const patch = {
      ...(rotateRows === undefined ? {} : { rotateRows: within(rotateRows, ROWS, 'rotateRows') }),
      ...(rotateAfter === undefined
        ? {}
        : { rotateMs: within(parseDuration(rotateAfter, 'rotateAfter'), AGE, 'rotateAfter') }),
    }
    return this.store.setRing(ring, patch, actOf(this.actor, options))
  }
}

function within(value: number, { least, most }: typeof ROWS, name: string): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new SpillwayError('invalid_option', `cannot set ${name} to ${shown(value)}: ${least} to ${most} are accepted`)
}
