import { randomUUID } from 'node:crypto'
import {
  type CallbackFailure,
  CallbackGoneError,
  CallbackSettledError,
  type CallbackState,
  callbackNotFound,
} from '../../job/callback.js'
import { causeOf, normaliseMessage } from '../../job/cause.js'
import { cutSecrets } from '../../job/secrets.js'
import { HELD_STATES, type JobState, LIVE_STATES } from '../../job/states.js'
import type { Answered, Answering, Upkeep } from '../store.js'
import { MAX_TRIES, moving, performing } from './acting.js'
import type { Database } from './database.js'
import { type SweptRow, sweptDeath } from './dead-row.js'
import { dateOf } from './job-row.js'
import { channelOf } from './notices.js'
import { type AnsweredRow, callbackQueries, type ExtendedRow, type LookRow } from './queries/callbacks.js'
import { failedCallbackQueries } from './queries/failed-callbacks.js'
import { inspectQueries } from './queries/inspect.js'

const NEEDED: ReadonlySet<string> = new Set([...LIVE_STATES, ...HELD_STATES])
/** Safe to repeat: what an earlier run of the same call did is known by its answer id. */
const REPEATABLE = { repeatable: true } as const
const MAX_BATCH = 1_000

/** What a way to answer gives back where it applied. */
type Moved = AnsweredRow | ExtendedRow

/** Answering callbacks on PostgreSQL, and their time-outs. */
export function answering(db: Database, schema: string): Answering & Pick<Upkeep, 'timeOutCallbacks'> {
  const queries = callbackQueries(schema)
  const failures = failedCallbackQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  /**
   * Tries each way to answer, and where none applied looks in new statements for why: a reason refuses, none means that
   * the job moved between the ways.
   */
  async function acting(
    token: string,
    ways: readonly (() => Promise<Moved[]>)[],
    given: { readonly answer: string; readonly id: string } | null,
  ): Promise<Moved> {
    let look: LookRow | undefined
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      for (const way of ways) {
        const [row] = await perform(way)
        if (row) return row
      }
      ;[look] = await db.run(queries.look, [token], REPEATABLE)
      if (!look) throw callbackNotFound()
      const [callbackId, name, jobId] = look
      if (given !== null && look[7] === given.id) return [callbackId, name, jobId, null]
      await refuse(look, given?.answer ?? null)
    }
    throw moving(look?.[2] ?? '', 'answer')
  }

  async function refuse([, name, jobId, generation, state, settledAtMs, answer]: LookRow, given: string | null) {
    const isSame = given !== null && answer === given
    const [found] = await db.run(locate, [jobId], REPEATABLE)
    const isItsOwn = found !== undefined && String(found[1]) === String(generation)
    if (!isItsOwn || !NEEDED.has(found[0])) {
      throw new CallbackGoneError(name, isItsOwn ? found[0] : null, state as CallbackState, isSame)
    }
    if (state !== 'open') {
      throw new CallbackSettledError(name, state as CallbackState, dateOf(settledAtMs) as Date, isSame)
    }
  }

  async function answered([callbackId, name, jobId, jobState]: Moved): Promise<Answered> {
    const state = jobState ?? (await db.run(locate, [jobId], REPEATABLE))[0]?.[0] ?? 'gone'
    return { callbackId, name, jobId, jobState: state as JobState | 'gone' }
  }

  async function settle(
    token: string,
    state: 'completed' | 'failed',
    answer: string,
    take: (id: string) => Promise<AnsweredRow[]>,
  ): Promise<Answered> {
    const id = randomUUID()
    const keep = () => db.run(queries.keep, [token, state, answer, id], REPEATABLE)
    return answered(await acting(token, [() => take(id), keep], { answer, id }))
  }

  return {
    completeCallback: (token, answer) =>
      settle(token, 'completed', answer, (id) => db.run(queries.complete, [token, answer, id, channel], REPEATABLE)),

    failCallback(token, failure) {
      const answer = JSON.stringify(failure)
      const rest = failParams(failure)
      return settle(token, 'failed', answer, (id) =>
        db.run(failures.fail, [token, answer, id, channel, ...rest], REPEATABLE),
      )
    },

    async extendCallback(token, timeoutMs) {
      const ways = [
        () => db.run(queries.extendWaiting, [token, timeoutMs], REPEATABLE),
        () => db.run(queries.extendEarly, [token, timeoutMs], REPEATABLE),
      ]
      const row = await acting(token, ways, null)
      return { ...(await answered(row)), waitsUntil: dateOf(row[4]) }
    },

    async timeOutCallbacks(limit, onDeaths) {
      const batch = Math.min(limit, MAX_BATCH)
      const rows = onDeaths
        ? await perform(() => db.run(failures.timeOutTelling, [batch, channel]))
        : await perform(() => db.run(failures.timeOut, [batch, channel]))
      const [timedOut, nextInMs] = rows[0]!
      const deaths = rows.flatMap((row) => (row[2] ? [sweptDeath(row.slice(2) as SweptRow)] : []))
      if (deaths.length > 0) onDeaths?.(deaths)
      return { timedOut: Number(timedOut), nextInMs: nextInMs === null ? null : Math.max(0, Number(nextInMs)) }
    },
  }
}

function failParams({ name, message, code }: CallbackFailure) {
  const about = { kind: '', errorClass: name, message, stack: null, reason: 'attempts_exhausted' }
  return [name, message, code, normaliseMessage(cutSecrets(message)), causeOf(about).title] as const
}
