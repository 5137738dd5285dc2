import type { Act } from './act.js'

/** How people left a cause: `muted` before the others, `regressed` is resolved and has failed since. */
export type TriageStatus = 'new' | 'acknowledged' | 'muted' | 'resolved' | 'regressed'

/** What people said about a dead letter or a cause. All of it counts as having looked at it. */
export interface Triage {
  readonly acknowledgedAt: Date | null
  readonly acknowledgedBy: string | null
  readonly note: string | null
  readonly notedAt: Date | null
  readonly notedBy: string | null
  readonly mutedUntil: Date | null
  readonly mutedAt: Date | null
  readonly mutedBy: string | null
  readonly resolvedAt: Date | null
  readonly resolvedBy: string | null
  /** Where the fix is. */
  readonly link: string | null
  /** Of a dead letter: it died again after it was resolved. Of a cause: its first death since. */
  readonly regressedAt: Date | null
}

/** One dead letter, or all of a cause in a queue, also those to come. */
export type TriageTarget = { readonly id: string } | { readonly queue: string; readonly cause: string }

/** What is said; `clear` and null take it back. */
export type TriageChange =
  | { readonly action: 'ack'; readonly clear: boolean }
  | { readonly action: 'note'; readonly text: string | null }
  | { readonly action: 'mute'; readonly until: Date | null }
  | { readonly action: 'resolve'; readonly link: string | null; readonly clear: boolean }

export interface UnreviewedQueue {
  readonly queue: string
  /** Dead letters nobody has looked at. Of a cause that somebody has: those among the next 10,000 that died of it since. */
  readonly unreviewed: number
}

/** Dead letters of one queue that leave soon. */
export interface ExpiringQueue {
  readonly queue: string
  /** 10,000 is that many or more. */
  readonly count: number
  readonly firstAt: Date
}

/** A queue whose dead letters are capped. */
export interface CappedQueue {
  readonly queue: string
  readonly depth: number
  readonly maxRows: number
  /** At 80 % of the cap or above. */
  readonly isNearlyFull: boolean
}

export interface Triaging {
  /** Says it, and writes the audit row, in one statement. @throws not_found, invalid_state */
  triage(target: TriageTarget, change: TriageChange, act: Act): Promise<Triage>
  /** What was said about a dead letter itself; undefined: nothing, or there is none. */
  triageOf(id: string): Promise<Triage | undefined>
  /** Queues with dead letters nobody has looked at, by name. */
  unreviewed(queue?: string): Promise<readonly UnreviewedQueue[]>
  /** Queues with dead letters whose retention lapses within `withinMs`, by name. */
  expiring(withinMs: number, queue?: string): Promise<readonly ExpiringQueue[]>
  /** Queues with a cap on their dead letters, by name. */
  cappedQueues(): Promise<readonly CappedQueue[]>
}
