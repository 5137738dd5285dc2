import type { DeathEvent } from '../../job/death.js'
import type { WorkerInfo } from './running.js'

/** Work of the maintenance leader. Every method is one bounded pass of short transactions, safe beside any other. */
export interface Upkeep {
  /**
   * Takes or keeps the lease called `name` for `ttlMs`; who has it also learns what there is to do, and leaves word of
   * how its duties fare.
   */
  lead(name: string, holder: string, ttlMs: number, passes?: Passes): Promise<Lead>
  resign(name: string, holder: string): Promise<void>
  /** deferred → available, what is due, at most `limit`. `nextInMs`: until the next is due, null when none waits. */
  promote(limit: number): Promise<{ readonly moved: number; readonly nextInMs: number | null }>
  /** Ends registrations that were silent for `staleMs` and takes their jobs back, charging crashes. */
  rescue(staleMs: number, crashLimit: number): Promise<Rescued>
  /** Ends registrations of the same host, boot and pid namespace whose process is gone. */
  endGone(self: WorkerInfo, isAlive: (pid: number, pidStarted: string) => boolean): Promise<number>
  /**
   * Jobs whose deadline passed while they waited: → archived, at most `limit`. Kinds whose deaths a worker of the queue
   * writes together with code of its own are left to it: → available, for it to give them up.
   *
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  expireDeadlines(limit: number, onDeaths?: (deaths: readonly DeathEvent[]) => void): Promise<number>
  /**
   * Jobs whose callback was not answered in time: → retryable, or archived with `callback_timeout` where no attempt is
   * left; at most `limit`. Deaths that a worker of the queue writes together with code of its own are left to it: →
   * available. `nextInMs`: until the next times out, null when none does.
   *
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  timeOutCallbacks(
    limit: number,
    onDeaths?: (deaths: readonly DeathEvent[]) => void,
  ): Promise<{ readonly timedOut: number; readonly nextInMs: number | null }>
  /**
   * Jobs that were set aside come back where somebody serves them again; what no live worker of its queue has served for
   * the queue's `noHandlerAfterMs`, while there were some, is given up: → archived. At most `limit` of each.
   *
   * @param staleMs - A worker that was silent for longer is not live.
   * @param onDeaths - Told of the deaths, once they are durable.
   */
  judgeUnserved(staleMs: number, limit: number, onDeaths?: (deaths: readonly DeathEvent[]) => void): Promise<Judged>
  /** Where new rows go from now on, where a slot is full or old; carries stragglers forward; truncates drained slots. */
  turnRings(): Promise<Turned>
  /** Makes partitions ahead. */
  preparePartitions(): Promise<number>
  /**
   * Deletes what outlived its retention, at most `limit` rows of each kind (of each queue, for dead letters), of all
   * parts or of one. Each statement is a transaction of its own; what it deletes is counted by reason.
   */
  retain(limit: number, part?: RetainPart): Promise<Readonly<Record<string, number>>>
  /** Folds append-only deltas into their totals. */
  fold(limit: number): Promise<number>
  /** Records that a duty succeeded, or how it failed, and how often since the last report. */
  reportDuty(duty: string, error: string | null, failures?: number): Promise<void>
}

/** What retention is about; each part is swept on a schedule of its own. */
export type RetainPart = 'finished' | 'dead' | 'parked' | 'evict' | 'bookkeeping'

/** How duties fare in the process that leads: ms, by duty. */
export interface Passes {
  /** Since each last succeeded, of those that have since they were last told of. */
  readonly succeeded: Readonly<Record<string, number>>
  /** Since the pass under way began, where one is. */
  readonly underWay: Readonly<Record<string, number>>
}

/** Who leads, and, for the leader, a cheap look at what waits for it. */
export interface Lead {
  readonly leading: boolean
  /** Until the lease of whoever leads runs out. */
  readonly expiresInMs: number
  /** Until the next deferred job is due; 0 or less when one is. null: none waits. */
  readonly nextDueInMs: number | null
  /** Until the next callback times out; 0 or less when one has. null: none does. */
  readonly nextTimeoutInMs: number | null
  /** A job that waits has passed its deadline. */
  readonly hasExpired: boolean
  /** There are deltas to fold. */
  readonly hasDeltas: boolean
  /** An operation runs, and no living process is running it. */
  readonly hasOrphans: boolean
  /** There are events without a position. */
  readonly hasEvents: boolean
  /** A webhook has something to send. */
  readonly hasDeliveries: boolean
  /** Changes when jobs enter or are claimed. */
  readonly activity: string
  /** Duties somebody has stopped. */
  readonly pausedDuties: readonly string[]
  /** Changes with every policy, pause and limit. */
  readonly policyVersion: string
}

export interface Turned {
  readonly rotated: number
  readonly truncated: number
  readonly carried: number
  /** Rows came or went since the last look of this process, so another look soon is worth it. */
  readonly moving: boolean
}

export interface Judged {
  readonly returned: number
  readonly died: number
  /** Until some kind has waited for long enough, were it unserved all the time; null when none waits. */
  readonly nextInMs: number | null
}

export interface Rescued {
  readonly retried: number
  readonly quarantined: number
  readonly handedBack: number
}
