import { DUTIES, type DutyName, isDuty } from '../job/duties.js'
import { SpillwayError, shown } from '../job/errors.js'
import type { Overseeing, Store, StoredDuty } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'

/** What is done in the background: promoting, rescuing, retention. Any worker may do it; one leads. */
export class Duties {
  constructor(
    private readonly store: Pick<Store, keyof Overseeing>,
    private readonly actor: string,
  ) {}

  /** Every duty: when it last succeeded (to about 5 s), how it last failed, whether somebody stopped it. */
  async list(): Promise<readonly StoredDuty[]> {
    return this.store.duties()
  }

  /**
   * Lets no process begin another pass of a duty, within a second, at most a poll; a pass under way ends. It stays so
   * until it is resumed, over restarts too. Pausing a paused one changes nothing but who and why.
   *
   * @throws `invalid_option` for what is no duty.
   */
  async pause(duty: string, options: ActOptions = {}): Promise<StoredDuty> {
    return this.store.pauseDuty(checkDuty(duty), actOf(this.actor, options))
  }

  /** Lets its passes go on, at once. Resuming one that is not paused changes nothing. @throws as {@link pause} */
  async resume(duty: string, options: ActOptions = {}): Promise<StoredDuty> {
    return this.store.resumeDuty(checkDuty(duty), actOf(this.actor, options))
  }
}

function checkDuty(duty: string): DutyName {
  if (typeof duty === 'string' && isDuty(duty)) return duty
  throw new SpillwayError(
    'invalid_option',
    `cannot find duty ${shown(duty)}: known are ${Object.keys(DUTIES).join(', ')}`,
  )
}
