import type { Job } from '../../job/job.js'
import type { JobState } from '../../job/states.js'
import type { Act, Acted } from './act.js'
import type { Page, PageRequest } from './page.js'

/** A job as it was when retention removed it. */
export interface ColdJob extends Job {
  /** `evicted`: its queue's cap on dead letters was reached. */
  readonly why: 'expired' | 'evicted'
  readonly archivedAt: Date
  /** Its own archive retention; null: for good. */
  readonly keepUntil: Date | null
}

export interface ColdFilter {
  readonly queue?: string
  readonly kind?: string
  /** Which it was in. */
  readonly state?: JobState
  readonly tag?: string
  readonly cause?: string
  readonly reason?: string
  /** In its error class or message. */
  readonly error?: string
  /** When it went to the archive: from, and before. */
  readonly since?: Date
  readonly until?: Date
}

/** One month of the archive. */
export interface ColdMonth {
  /** `2026-01` */
  readonly month: string
  readonly rows: number
  /** The last row's archive retention; null where one is kept for good, or there is none. */
  readonly keepUntil: Date | null
  /** It is over, and every row has outlived its own archive retention. */
  readonly isPrunable: boolean
}

export interface Pruned {
  readonly month: string
  readonly rows: number
}

export interface Archiving {
  /** Newest first, without payload and history. `partial`: the search looked at a bounded number of rows. */
  listCold(filter: ColdFilter, page: PageRequest): Promise<Page<ColdJob>>
  /** The same, whole. */
  exportCold(filter: ColdFilter, page: PageRequest): Promise<Page<ColdJob>>
  /** Whole; the newest where the archive has the id twice. */
  getCold(id: string): Promise<ColdJob | undefined>
  /** Oldest first. Reads every month's index. */
  coldMonths(): Promise<readonly ColdMonth[]>
  /**
   * cold → archived: equal to what it was, with `restored` in its history; retention counts from now.
   *
   * @throws `not_found`; `invalid_state` where it was not dead, or a job has its id.
   */
  restoreCold(id: string, act: Act): Promise<Acted>
  /** Drops a month for good. @param month - `2026-01`. @throws `not_found`, `archive_kept` */
  pruneCold(month: string, act: Act): Promise<Pruned>
}
