import { createHash } from 'node:crypto'
import type { Duration } from './duration.js'
import { SpillwayError, shown } from './errors.js'
import type { JobState } from './states.js'
import { describeThrown } from './thrown.js'

/** An answer is a result, so it has the same limit. */
export const MAX_ANSWER_BYTES = 64 * 1024

export const CALLBACK_STATES = ['open', 'completed', 'failed', 'timed_out'] as const
/** `open`, or how it was settled. */
export type CallbackState = (typeof CALLBACK_STATES)[number]

export interface CallbackOptions {
  /**
   * How long it may take until it is answered, from the first time it is made; a heartbeat extends it. Then the attempt
   * has failed. Default: no limit but the job's deadline.
   */
  readonly timeout?: Duration
}

/** Something a job waits for: whoever has its token can answer it, once. */
export interface Callback<Answer = unknown> {
  /** The same in every run of the handler. */
  readonly id: string
  readonly name: string
  /**
   * What it is answered by; a secret. Only its hash is stored, so each run of the handler gets another one, and all of
   * them answer this callback.
   */
  readonly token: string
  /**
   * Where it can be answered: the configured `callbackUrl` and the token, to which `/complete`, `/fail` or `/heartbeat`
   * is added.
   *
   * @throws `invalid_option` where no `callbackUrl` was configured.
   */
  readonly url: string
  /** When it times out; null: never. */
  readonly waitsUntil: Date | null
  /**
   * The answer. Where there is none yet the attempt ends here: the job waits, holding no slot, and the handler is
   * entered again from its start when the answer has come; then this resolves at once.
   *
   * It ends the attempt by rejecting, so that `finally` blocks run; a handler that catches this changes nothing by it.
   * A callback that failed ends the attempt as an error does. Both are charged to the attempt, and the next one gets a
   * new callback.
   */
  result(): Promise<Answer>
}

/** Why a callback failed, as whoever answers it says. */
export interface CallbackFailure {
  readonly name: string
  readonly message: string
  readonly code: string | null
}

/** What a job that waits for a callback shows of it. Never its token. */
export interface WaitedFor {
  readonly id: string
  readonly name: string
  /** When it times out; null: never. */
  readonly waitsUntil: Date | null
}

/** What a handler finds thrown by `result()` of a callback that was answered with a failure. */
export class CallbackFailed extends Error {
  readonly code: string | undefined

  constructor({ name, message, code }: CallbackFailure) {
    super(message)
    this.name = name
    if (code !== null) this.code = code
    // It failed elsewhere: a stack from here would part it from the same failure that came while the job waited.
    this.stack = ''
  }
}

/** What it finds where the callback was not answered in time; the sweep of such jobs writes the same. */
export function callbackTimedOut(name: string): CallbackFailed {
  return new CallbackFailed({
    name: 'CallbackTimeout',
    message: `the callback ${JSON.stringify(name)} was not answered in time`,
    code: null,
  })
}

/** No such token (`callback_not_found`): it was never given out, or its job is long gone. */
export function callbackNotFound(): SpillwayError {
  return new SpillwayError(
    'callback_not_found',
    'no callback has this token: check that it is whole; callbacks are forgotten some time after their job',
  )
}

/** The callback has an answer, or timed out (`callback_settled`). Nothing was changed. */
export class CallbackSettledError extends SpillwayError {
  constructor(
    readonly callback: string,
    readonly state: CallbackState,
    readonly settledAt: Date,
    /** Whether it was settled by an answer that equals this one: a repeated one, then, and nothing is left to do. */
    readonly isSame: boolean,
  ) {
    const how = isSame ? 'with this very answer' : 'and only the first answer counts'
    super(
      'callback_settled',
      `cannot answer callback ${shown(callback)}: it ${SETTLED[state]} at ${settledAt.toISOString()}, ${how}`,
    )
  }
}

/** The job needs the answer no more (`callback_gone`): it has ended, was cancelled or given up. Nothing was changed. */
export class CallbackGoneError extends SpillwayError {
  constructor(
    readonly callback: string,
    /** Where its job is; null: nowhere, or in a later generation. */
    readonly jobState: JobState | null,
    /** How the callback stood when its job left. */
    readonly state: CallbackState,
    /** As in {@link CallbackSettledError}. */
    readonly isSame: boolean,
  ) {
    const now = jobState === null ? 'is gone' : `is ${jobState}`
    const had = state === 'open' ? '' : isSame ? '; it had this very answer' : `; it ${SETTLED[state]} before`
    super('callback_gone', `cannot answer callback ${shown(callback)}: the job that asked for it ${now}${had}`)
  }
}

const SETTLED: Readonly<Record<CallbackState, string>> = {
  open: 'is open',
  completed: 'was completed',
  failed: 'was failed',
  timed_out: 'timed out',
}

/** What is stored of a token: hex digits of its SHA-256. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Whatever somebody gives as the failure of a callback, as data: bounded, storable, without known secrets. */
export function failureOf(error: unknown): CallbackFailure {
  const { name, message, code } = describeThrown(error)
  const isNamed = name !== 'NonError' && name !== 'Object' && name !== 'Error'
  return { name: isNamed ? name : 'CallbackFailed', message, code }
}

/** A stored failure; one this version cannot read still says that it is one. */
export function readFailure(text: string | null): CallbackFailure {
  const read = text === null ? null : (JSON.parse(text) as Partial<CallbackFailure> | null)
  return {
    name: read?.name ?? 'CallbackFailed',
    message: read?.message ?? 'the callback failed',
    code: read?.code ?? null,
  }
}
