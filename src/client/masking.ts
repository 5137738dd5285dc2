import { SpillwayError } from '../job/errors.js'
import { checkMaskPath } from '../job/mask.js'
import type { MaskedPath, Store } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'

/** Which places of payloads, metadata, results, progress and errors are shown to nobody. */
export class Masking {
  constructor(
    private readonly store: Pick<Store, 'maskedPaths' | 'maskPath' | 'unmaskPath'>,
    private readonly actor: string,
  ) {}

  /** Those that were added, by path; the built-in ones hold beside them. */
  list(): Promise<readonly MaskedPath[]> {
    return this.store.maskedPaths()
  }

  /**
   * Hides a place from every answer of the HTTP API within two seconds; what is stored stays as it is.
   *
   * @param path - Keys joined by dots; `*` is any key or place of a list, `**` any number of them: `card.number`,
   *   `items.*.iban`, `**.ssn`.
   * @returns false where it was hidden already.
   * @throws `invalid_option`
   */
  async add(path: string, options: ActOptions = {}): Promise<boolean> {
    return this.store.maskPath(checkMaskPath(path), actOf(this.actor, options))
  }

  /** Shows the place again. @throws `not_found` where it was not hidden. */
  async remove(path: string, options: ActOptions = {}): Promise<void> {
    if (await this.store.unmaskPath(checkMaskPath(path), actOf(this.actor, options))) return
    throw new SpillwayError('not_found', `cannot show ${path.slice(0, 60)} again: it is not hidden`)
  }
}
