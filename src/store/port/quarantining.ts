import type { JobState } from '../../job/states.js'
import type { Act } from './act.js'
import type { Page, PageRequest } from './page.js'

/** A fingerprint (kind and payload) of which something is held because it killed workers, or was handed back too often. */
export interface Quarantined {
  readonly fingerprint: string
  readonly kind: string
  readonly queue: string
  readonly heldAt: Date
  /** Every job of the fingerprint is held. False: only single jobs are, which used up their starts by themselves. */
  readonly convicted: boolean
  /** Its jobs are on their way back. */
  readonly releasing: boolean
  /** The job that was released ahead, on whose success the rest follows. */
  readonly canaryId: string | null
  /** Jobs that are held. */
  readonly held: number
  /** Crashes that were counted. */
  readonly crashes: number
  readonly lastCrashAt: Date | null
}

/** One worker process that died with a job of the fingerprint. */
export interface Crash {
  readonly at: Date
  readonly worker: string | null
  readonly host: string | null
  readonly jobId: string
  /** Nothing else ran in the process: only such a crash convicts. */
  readonly alone: boolean
  /** False: another trace of a crash that is counted already. */
  readonly counted: boolean
  /** Why it is no longer held against the fingerprint: `success`, `release` or `disconnected`; null while it is. */
  readonly closedBy: string | null
}

export interface QuarantinedDetail extends Quarantined {
  /** Newest first, at most 200. */
  readonly crashLog: readonly Crash[]
  /** Names of the workers that died. */
  readonly workers: readonly string[]
  /** The first 100 that are held, and the first 100 that wait and are blocked. */
  readonly jobs: readonly {
    readonly id: string
    readonly queue: string
    readonly state: JobState
    /** Why it is held; null for one that waits. */
    readonly reason: string | null
    readonly at: Date
  }[]
  /** Jobs that wait and will be held when they are claimed or due. */
  readonly blocked: number
  /** There are more jobs of the kind than were looked at. */
  readonly blockedIsPartial: boolean
  /** A payload as it is stored; only where it was asked for. */
  readonly payloadText?: string
}

export interface Released {
  readonly releaseId: string
  /** Jobs that are available again. */
  readonly released: number
  /** Of these, where only some were released. */
  readonly ids?: readonly string[]
}

export interface Quarantining {
  /** Newest first. */
  listQuarantine(page: PageRequest): Promise<Page<Quarantined>>
  getQuarantined(fingerprint: string, options?: { payload?: boolean }): Promise<QuarantinedDetail | undefined>
  /**
   * quarantined → available, all of a fingerprint, which is accepted and run again. What is interrupted on the way is
   * finished by the maintenance. Repeated, it goes on. @throws `not_found`
   */
  releaseFingerprint(fingerprint: string, act: Act): Promise<Released>
  /** quarantined → available, the oldest job alone. @throws `not_found`, `invalid_state` where one is out. */
  releaseCanary(fingerprint: string, act: Act): Promise<Released>
  /** quarantined → available, those of the jobs that are held. */
  releaseJobs(ids: readonly string[], act: Act): Promise<Released>
  /** Lets go what releases and canaries have begun to; how many jobs moved. */
  finishReleases(): Promise<number>
}
