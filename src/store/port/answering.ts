import type { CallbackFailure } from '../../job/callback.js'
import type { JobState } from '../../job/states.js'

/** What became of an answer. */
export interface Answered {
  readonly callbackId: string
  /** The callback's name. */
  readonly name: string
  readonly jobId: string
  /** Where the job is now; `gone` for one that died where none are kept. */
  readonly jobState: JobState | 'gone'
}

/**
 * Answering callbacks. Who has the token may. Each is one guarded transition: of many answers, a time-out, a cancel and
 * a deadline exactly one comes first. A lost connection is repeated, and the caller's own answer is recognised.
 *
 * All throw `callback_not_found`; `callback_settled` where there is an answer, or it timed out; `callback_gone` where the
 * job has ended, was cancelled or given up. Then nothing was changed.
 */
export interface Answering {
  /** waiting → available. Where the job does not wait for it yet, the answer is kept. @param answer - JSON text. */
  completeCallback(tokenHash: string, answer: string): Promise<Answered>
  /**
   * waiting → retryable, or archived (`attempts_exhausted`) where no attempt is left. Where the job does not wait for it
   * yet, the failure is kept for it.
   */
  failCallback(tokenHash: string, failure: CallbackFailure): Promise<Answered>
  /**
   * Moves the time-out to `timeoutMs` from now, if that is later; null: the time it was made with. One without a time-out
   * stays so.
   */
  extendCallback(tokenHash: string, timeoutMs: number | null): Promise<Answered & { readonly waitsUntil: Date | null }>
}
