import type { Page, PageRequest } from './page.js'
import type { Triage, TriageStatus } from './triaging.js'

export interface GroupFilter {
  readonly queue?: string
  readonly kind?: string
  /** How people left the cause; `unmuted` is all but muted ones, `unreviewed` has deaths nobody has looked at. */
  readonly triage?: TriageStatus | 'unmuted' | 'unreviewed'
}

/** Dead letters of one cause in one queue. */
export interface DlqGroup {
  readonly queue: string
  readonly cause: string
  readonly kind: string
  /** Of the death that began the group. */
  readonly reason: string
  readonly errorClass: string | null
  readonly title: string | null
  /** How many lie there now. */
  readonly count: number
  /** The first and the last death, whether or not they still lie there. */
  readonly firstAt: Date
  readonly lastAt: Date
  /** One that lies there now. */
  readonly sampleId: string | null
  /** Arrivals in each of the last 24 hours, the current one last. */
  readonly trend: readonly number[]
  readonly status: TriageStatus
  /** What people said about the cause; null: nothing. */
  readonly triage: Triage | null
  /** The first death after the cause was resolved; null: it holds, or was never resolved. */
  readonly regressedAt: Date | null
  /** Dead letters nobody has looked at. Of a cause that somebody has: those among the next 2,000 that died of it since. */
  readonly unreviewed: number
}

export interface FlowFilter {
  readonly queue?: string
  readonly since: Date
  readonly by: 'minute' | 'hour'
}

/** What came into and left the dead-letter queue in one minute or hour; those without either are left out. */
export interface DlqFlow {
  readonly at: Date
  readonly arrived: number
  readonly departed: number
  /** By dlq reason, and `undone`, `imported`, `restored`. */
  readonly arrivedBy: Readonly<Record<string, number>>
  /** `retried`, `discarded`, `purged`, `expired`, `evicted`. */
  readonly departedBy: Readonly<Record<string, number>>
}

export interface RemovedFilter {
  readonly queue?: string
  readonly since: Date
}

/** How many jobs of a queue left the store for good, in one way and for one reason. */
export interface RemovedJobs {
  readonly queue: string
  /**
   * `expired`: their retention lapsed; `evicted`: they were above a cap; `pruned`: a month of the cold archive went;
   * `not_kept`: their queue keeps none that end so; `purged`: somebody deleted them; `revoked`: their handler did.
   */
  readonly why: 'expired' | 'evicted' | 'pruned' | 'not_kept' | 'purged' | 'revoked'
  /** The state they were in; of dead letters why they had died, of `not_kept` ones too; `archive` where they lay there. */
  readonly reason: string
  readonly count: number
}

export interface AuditFilter {
  readonly action?: string
  readonly actor?: string
  readonly since?: Date
}

/** What somebody did: written in the transaction that did it. */
export interface AuditEntry {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly action: string
  /** What it was done to, with snake_case keys. */
  readonly target: unknown
  readonly reason: string | null
  readonly result: unknown
  readonly requestId: string | null
}

export interface Reporting {
  /** Largest first. Reads no dead letter but one sample each. */
  dlqGroups(filter: GroupFilter, page: PageRequest): Promise<Page<DlqGroup>>
  /** Oldest first. */
  dlqHistory(filter: FlowFilter): Promise<readonly DlqFlow[]>
  /** By queue, why and reason; to the minute. */
  removedJobs(filter: RemovedFilter): Promise<readonly RemovedJobs[]>
  /** Newest first. */
  listAudit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
}
