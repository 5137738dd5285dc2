import { SpillwayError } from '../job/errors.js'
import { isMoment } from '../job/moment.js'
import type { AuditEntry, AuditFilter, Store } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'
import { Listing, type ListOptions } from './listing.js'
import { toWire } from './wire.js'

/** Who did what: a row for each action that changed something, written in the same transaction. */
export class Audit {
  constructor(
    private readonly store: Pick<Store, 'listAudit' | 'note'>,
    private readonly actor: string,
  ) {}

  /** Writes a row for something that moved nothing and that somebody will want to know of, such as showing a payload. */
  note(action: string, target: object, options: ActOptions = {}): Promise<void> {
    return this.store.note(action, toWire(target), actOf(this.actor, options))
  }

  /**
   * What was done, newest first. `await` gives one page, `for await` all of it.
   *
   * @throws `invalid_option` for an unknown key or an empty text.
   *
   * @example
   * for await (const { at, actor, action, target } of spillway.audit.list({ action: 'purge' })) console.log(at, actor, target)
   */
  list(filter: AuditFilter = {}, options: ListOptions = {}): Listing<AuditEntry> {
    const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as AuditFilter
    for (const [key, value] of Object.entries(named)) {
      const isFine =
        key === 'since'
          ? isMoment(value)
          : (key === 'action' || key === 'actor') && typeof value === 'string' && value !== ''
      if (!isFine) {
        throw new SpillwayError(
          'invalid_option',
          `cannot list the audit log by ${key} ${JSON.stringify(value) ?? String(value)}: action and actor as text, since as a Date are accepted`,
        )
      }
    }
    return new Listing((page) => this.store.listAudit(named, page), options)
  }
}
