import { randomBytes } from 'node:crypto'
import {
  type Callback,
  CallbackFailed,
  type CallbackOptions,
  callbackTimedOut,
  hashOfToken,
  readFailure,
} from '../job/callback.js'
import { parseDuration } from '../job/duration.js'
import { SpillwayError, shown } from '../job/errors.js'
import type { Outcome } from '../job/outcome.js'
import { checkText } from '../job/payload.js'
import type { CallbackAnswer, CallbackRequest, ClaimedJob, OpenCallback } from '../store/store.js'

/** What callbacks need of whoever runs the attempt. Undefined: the lease is lost. */
export interface CallbackDoors {
  openCallback(job: ClaimedJob, request: CallbackRequest): Promise<OpenCallback | undefined>
  callbackAnswer(job: ClaimedJob, callbackId: string): Promise<CallbackAnswer | undefined>
  /** Where callbacks are answered over HTTP. */
  readonly callbackUrl: string | undefined
}

/** What callbacks need of the attempt they are made in. */
interface Attempting {
  readonly claimed: ClaimedJob
  /** The attempt has ended so, whatever its handler still says. */
  decide(outcome: Outcome): void
  abort(why: 'lost'): void
}

/** Ends an attempt at `result()`: thrown, so that `finally` blocks run. It is no failure, and is recorded nowhere. */
export class CallbackPending extends Error {
  constructor(callback: string) {
    super(`the attempt ends here: its job waits for callback ${shown(callback)}; let this error pass`)
    this.name = 'CallbackPending'
  }
}

/** Makes or finds the callback `name` of the attempt's job. @throws `invalid_option`, `lease_lost` */
export async function openCallback<Answer>(
  attempt: Attempting,
  doors: CallbackDoors,
  name: string,
  { timeout }: CallbackOptions,
): Promise<Callback<Answer>> {
  const token = randomBytes(32).toString('base64url')
  const opened = await doors.openCallback(attempt.claimed, {
    name: checkText('callback name', name),
    tokenHash: hashOfToken(token),
    timeoutMs: timeout === undefined ? null : parseDuration(timeout, "a callback's timeout"),
  })
  if (opened === undefined) throw lost(attempt)
  return new AttemptCallback<Answer>(attempt, doors, name, token, opened)
}

class AttemptCallback<Answer> implements Callback<Answer> {
  readonly id: string
  readonly waitsUntil: Date | null

  constructor(
    private readonly attempt: Attempting,
    private readonly doors: CallbackDoors,
    readonly name: string,
    readonly token: string,
    private readonly opened: OpenCallback,
  ) {
    this.id = opened.id
    this.waitsUntil = opened.waitsUntil
  }

  get url(): string {
    const { callbackUrl } = this.doors
    if (callbackUrl !== undefined) return `${callbackUrl.replace(/\/+$/, '')}/${this.token}`
    throw new SpillwayError(
      'invalid_option',
      `callback ${shown(this.name)} has no url: give \`callbackUrl\` to the Spillway or the worker, or hand out its token`,
    )
  }

  result(): Promise<Answer> {
    const result = this.answerOrEnd()
    // A handler may leave it unawaited; the attempt ends all the same, and the process must not.
    result.catch(() => undefined)
    return result
  }

  private async answerOrEnd(): Promise<Answer> {
    const { attempt, doors, opened, id, name } = this
    const found = opened.state === 'completed' ? opened : await doors.callbackAnswer(attempt.claimed, id)
    if (found === undefined) throw lost(attempt)
    switch (found.state) {
      case 'completed':
        return JSON.parse(found.answer ?? 'null') as Answer
      case 'open':
        attempt.decide({ type: 'wait', callbackId: id, name })
        throw new CallbackPending(name)
      default: {
        const isLate = found.state === 'timed_out'
        const error = isLate ? callbackTimedOut(name) : new CallbackFailed(readFailure(found.answer))
        attempt.decide({ type: 'callbackFailed', error, callback: name, isLate })
        throw error
      }
    }
  }
}

/** @throws `invalid_option` where it is no http or https url. */
export function checkCallbackUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${shown(url)} as callbackUrl: an http or https url is accepted, as https://jobs.example.com/api/v1/callbacks`,
  )
}

function lost(attempt: Attempting): SpillwayError {
  attempt.abort('lost')
  return new SpillwayError(
    'lease_lost',
    `job ${attempt.claimed.id} is not this attempt's any more: its lease was taken back, or it was cancelled`,
  )
}
