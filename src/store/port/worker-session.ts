import type { CallbackFailure, CallbackState } from '../../job/callback.js'
import type { ClaimedJob } from './claimed-job.js'
import type { Notice } from './listening.js'
import type { Question, Verdict } from './question.js'
import type { DeathAlong, Settled, Settlement } from './settlement.js'

/** What a worker learns when it looks up. */
export interface Pulse {
  /** Leases that were taken away: abort these attempts. */
  readonly aborts: readonly { readonly jobId: string; readonly leaseId: string; readonly reason: string }[]
  readonly policyVersion: string
  readonly quarantineVersion: string
  /** The store's clock, in ms since 1970. */
  readonly storeTime: number
  /** Queues of the worker that have something claimable. */
  readonly waiting: readonly string[]
  /** Queues nobody may claim from. */
  readonly paused: readonly string[]
  /** Somebody asks what only a worker knows; see {@link WorkerSession.takeQuestion}. */
  readonly hasQuestions: boolean
}

/** One registration of a worker process and everything it does under it. */
export interface WorkerSession {
  readonly registration: string
  /**
   * Takes at most `limit` jobs of the queue, best priority first, oldest first inside it; fewer means there are no
   * more now. One call at a time.
   *
   * @param except - Kinds that are left where they are for now.
   * @param onJobs - Told of the jobs as they come, before all of them are there; the answer holds them again.
   */
  claim(
    queue: string,
    limit: number,
    except?: ReadonlySet<string>,
    onJobs?: (jobs: readonly ClaimedJob[]) => void,
  ): Promise<readonly ClaimedJob[]>
  /** There are fingerprints that have crashed: their jobs are passed over by {@link claim}, to run one by one. */
  readonly hasSuspects: boolean
  /**
   * Takes the turn to run the queue's suspects alone, unless another worker has it, or none of them is due here. It is
   * kept until it is left, or the registration ends.
   */
  takeTurn(queue: string): Promise<'ours' | 'theirs' | 'none'>
  leaveTurn(queue: string): Promise<void>
  /** Takes one suspect of the queue, for a worker that runs nothing else. Undefined: there is none. */
  claimSuspect(queue: string): Promise<ClaimedJob | undefined>
  /** Whether a suspect has to stay alone until it ends, because one more crash convicts its fingerprint. */
  isAloneToTheEnd(job: ClaimedJob): boolean
  /** Tells of jobs below what the session has already passed. */
  heard(notice: Notice & { type: 'ready' }): void
  /** Writes how attempts ended, each alone fenced; the answers stand in the same order. Repeats lost connections. */
  settle(settlements: readonly Settlement[]): Promise<readonly Settled[]>
  /** Writes one death, and what goes along with it, in one transaction. Repeats lost connections. */
  settleDeath(settlement: Settlement, along: DeathAlong): Promise<Settled>
  /** Looks from the beginning: new work, aborts, policy. */
  pulse(): Promise<Pulse>
  /**
   * Says the process is alive, and hands back leases of this registration that the worker does not hold (an answer
   * that was lost). False: the registration was ended; abort everything and register anew.
   */
  beat(held: readonly ClaimedJob[]): Promise<boolean>
  /** Stores what the handler reports. False: the lease is lost. */
  progress(job: ClaimedJob, value: string): Promise<boolean>
  /**
   * The job's callback of that name in this generation, made where there is none, or where the last one failed and was
   * charged. Also this token answers it from now on. Undefined: the lease is lost.
   */
  openCallback(job: ClaimedJob, request: CallbackRequest): Promise<OpenCallback | undefined>
  /** What has become of a callback. A failure is charged to this attempt from now on. Undefined: the lease is lost. */
  callbackAnswer(job: ClaimedJob, callbackId: string): Promise<CallbackAnswer | undefined>
  /**
   * The name of the callback that the job has waited for in vain, where the sweep left it to this worker to give the job
   * up. That is charged to this attempt from now on. Undefined: there is none, or the lease is lost.
   */
  lateCallback(job: ClaimedJob): Promise<string | undefined>
  /** A question that this worker can answer, for nobody else to take; undefined when there is none. */
  takeQuestion(): Promise<Question | undefined>
  answerQuestion(id: string, verdicts: readonly Verdict[]): Promise<void>
  /** Says that the handler of a job that was cancelled while it ran has ended. */
  handlerEnded(job: ClaimedJob): Promise<void>
  /** Marks the process as stopping: what it still holds is returned uncharged once the process is gone. */
  stopping(): Promise<void>
  /** Ends the registration, handing back uncharged whatever it still has. */
  end(): Promise<void>
  /** Closes the session's connections without a word to the database. */
  close(): Promise<void>
}

export interface CallbackRequest {
  readonly name: string
  /** Hex digits of its SHA-256. */
  readonly tokenHash: string
  /** From when it is first made; null: no limit. */
  readonly timeoutMs: number | null
}

export interface CallbackAnswer {
  readonly state: CallbackState
  /** JSON text: what it was completed with, or a {@link CallbackFailure}; null while it is open and when it timed out. */
  readonly answer: string | null
}

export interface OpenCallback extends CallbackAnswer {
  readonly id: string
  readonly waitsUntil: Date | null
}
