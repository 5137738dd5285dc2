import type { Job } from '../../job/job.js'
import type { QueuePolicy } from '../../job/policy.js'
import type { Selector } from '../../job/selector.js'
import type { JobState } from '../../job/states.js'
import type { Page, PageRequest } from './page.js'

export interface JobFilter {
  readonly state?: JobState
  readonly queue?: string
  /** Any of these. */
  readonly queues?: readonly string[]
  readonly kind?: string
}

export interface DlqFilter extends Omit<Selector, 'all'> {
  /** After that row in the list's order. */
  readonly beforeId?: string
  readonly beforeDlqAt?: Date
}

/** What can be counted without reading rows. */
export interface CauseFilter {
  readonly queue?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly cause?: string | undefined
}

export interface Depth {
  readonly total: number
  readonly queues: readonly { readonly queue: string; readonly depth: number; readonly oldestAt: Date | null }[]
}

export interface StoredQueue {
  readonly queue: string
  readonly policy: QueuePolicy
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pausedReason: string | null
  readonly updatedAt: Date | null
  /** Jobs per state, where cheap to say. */
  readonly counts?: Readonly<Partial<Record<JobState, number>>>
  /** How it keeps up, where cheap to say. */
  readonly activity?: QueueActivity
}

/** How a queue keeps up with what comes in. */
export interface QueueActivity {
  /** Since when its oldest available job can be claimed: that long ago is its lag. Null: none waits. */
  readonly oldestAt: Date | null
  /** Jobs that completed in the last minute. */
  readonly completedPerMinute: number
}

export interface Inspecting {
  /** The job wherever it is; undefined when it is nowhere. */
  getJob(id: string, options?: { payload?: boolean }): Promise<Job | undefined>
  /** Newest id first; without payload and history. */
  listJobs(filter: JobFilter, page: PageRequest): Promise<Page<Job>>
  countJobs(): Promise<Readonly<Record<JobState, number>>>
  /** (dlq_at, id) descending; without payload and history. */
  listDlq(filter: DlqFilter, page: PageRequest): Promise<Page<Job>>
  dlqDepth(queue?: string): Promise<Depth>
  /** How many dead letters there are by what their causes tell: exact, however many lie there, without reading them. */
  countDlq(filter: CauseFilter): Promise<number>
  getQueue(queue: string): Promise<StoredQueue>
  listQueues(): Promise<readonly StoredQueue[]>
  listWorkers(): Promise<readonly RegisteredWorker[]>
}

export interface RegisteredWorker {
  readonly registration: string
  readonly name: string
  readonly host: string
  readonly pid: number
  readonly state: 'running' | 'stopping'
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  readonly concurrency: number
  readonly running: number
  readonly startedAt: Date
  readonly heartbeatAt: Date
}
