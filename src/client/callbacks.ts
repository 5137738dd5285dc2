import { callbackNotFound, failureOf, hashOfToken, MAX_ANSWER_BYTES } from '../job/callback.js'
import { type Duration, parseDuration } from '../job/duration.js'
import { encodePayload } from '../job/payload.js'
import type { Answered, Answering } from '../store/store.js'

export interface HeartbeatOptions {
  /** From now. Default: the time-out it was made with. */
  readonly timeout?: Duration | undefined
}

/** A callback whose time-out was moved. */
export interface Extended extends Answered {
  /** When it times out now; null: never. */
  readonly waitsUntil: Date | null
}

/**
 * Answers what jobs wait for, by the tokens their handlers gave out. A token gives no other right.
 *
 * Each callback is answered once: of concurrent answers, its time-out, a cancel and the job's deadline one comes first.
 * An answer that comes before the job waits is kept for it. All throw
 *
 * - `callback_not_found` for a token that belongs to nothing;
 * - `callback_settled` where it has an answer or timed out, with `state`, `settledAt`, and `isSame`: whether that answer
 *   equals the one given, so that sending it again after a lost response can be taken for done;
 * - `callback_gone` where the job has ended, was cancelled or given up, with `jobState`, `state` and `isSame`.
 *
 * Then nothing was changed. A lost connection to the database is repeated, and does not make an answer its own rival.
 */
export class Callbacks {
  constructor(private readonly store: Answering) {}

  /**
   * Answers with a value: the job is available again, at the end of its priority, and its handler gets the value.
   *
   * @param value - Anything JSON, at most 64 KiB. Default: null.
   * @throws `payload_refused` with the path, `payload_too_large`.
   *
   * @example
   * await spillway.callbacks.complete(token, { ok: true })
   */
  async complete(token: string, value: unknown = null): Promise<Answered> {
    const { text } = encodePayload(value, { maxBytes: MAX_ANSWER_BYTES, what: 'answer' })
    return this.store.completeCallback(hashOf(token), text)
  }

  /**
   * Answers with a failure: the attempt that waits has failed. The job is tried again, with a new callback, or given up
   * (`attempts_exhausted`) where no attempt is left.
   *
   * @param error - An Error, a text, or `{ name, message, code }`. Stacks are not kept.
   */
  async fail(token: string, error: unknown = 'the callback failed'): Promise<Answered> {
    return this.store.failCallback(hashOf(token), failureOf(error))
  }

  /** Moves the time-out further away, never nearer. A callback without one stays so. @throws `invalid_option` */
  async heartbeat(token: string, { timeout }: HeartbeatOptions = {}): Promise<Extended> {
    const timeoutMs = timeout === undefined ? null : parseDuration(timeout, "a callback's timeout")
    return this.store.extendCallback(hashOf(token), timeoutMs)
  }
}

function hashOf(token: unknown): string {
  if (typeof token !== 'string' || token === '' || token.length > 500) throw callbackNotFound()
  return hashOfToken(token)
}
