import {
  AlreadyRetriedError,
  FingerprintQuarantinedError,
  InvalidStateError,
  SpillwayError,
  UniqueConflictError,
} from '../../job/errors.js'
import { statesAccepting } from '../../job/lifecycle.js'
import { type JobState, LIVE_STATES } from '../../job/states.js'
import type { Act, Acted, Operating, RetryRequest } from '../store.js'
import { actParams, MAX_TRIES, moving, notFound, performing } from './acting.js'
import { isId } from './cursor.js'
import type { Database } from './database.js'
import { channelOf } from './notices.js'
import { inspectQueries } from './queries/inspect.js'
import { operateQueries } from './queries/operate.js'
import { type RetryParams, type RetryRow, retryQueries } from './queries/retry.js'

/** Sending one dead job back to work on PostgreSQL. */
export function retrying(db: Database, schema: string): Operating['retryJob'] {
  const queries = retryQueries(schema)
  const { cancel } = operateQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  return async (id, request, act) => {
    if (!isId(id)) throw notFound(id)
    const params = paramsOf(id, request, actParams(act, channel))
    let seen: number | undefined
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [row] = await perform(() => db.run(queries.retry, params))
      if (row) {
        const done = answerOf(id, row)
        if (done) return done
        seen ??= Number(row[0])
      }

      const key = row?.[1]
      const holder = key == null ? undefined : (await db.run(queries.holder, [key]))[0]?.[0]
      // Held by the job itself: another caller's retry took it.
      if (key != null && holder !== undefined && holder !== id) {
        if (request.onConflict === 'skip') return skipped(id, row?.[9] ?? 'archived', holder)
        const replaced = request.onConflict === 'replace' && (await replace(id, holder, params, act))
        if (replaced) return replaced
        if (request.onConflict === 'fail' || (await stateOf(holder)) === 'running')
          throw new UniqueConflictError(key, holder)
        continue
      }
      await refuseUnlessDead(id, seen)
    }
    throw moving(id, 'retry')
  }

  /** Cancels the holder of the key and retries, both or neither; a running one is not touched. */
  async function replace(id: string, holder: string, params: RetryParams, act: Act): Promise<Acted | undefined> {
    const reason = `replaced by a retry of job ${id}`
    try {
      return await perform(() =>
        db.transaction(async (tx) => {
          const [cancelled] = await tx.run(cancel, [holder, ...actParams({ ...act, reason }, channel), false])
          const [row] = cancelled ? await tx.run(queries.retry, params) : []
          const done = row && answerOf(id, row)
          if (!done) throw NOT_REPLACED
          return { ...done, warnings: [`cancelled job ${holder}, which held its unique key`, ...(done.warnings ?? [])] }
        }),
      )
    } catch (error) {
      if (error === NOT_REPLACED) return undefined
      throw error
    }
  }

  async function stateOf(id: string): Promise<JobState | undefined> {
    return (await db.run(locate, [id]))[0]?.[0]
  }

  /**
   * Returns where the job can still be retried. A caller that saw the dead letter in its own statement and did not get
   * it has lost a race, whatever became of the job since; so has one that finds a job at work in a later generation.
   */
  async function refuseUnlessDead(id: string, seen: number | undefined): Promise<void> {
    const [found] = await db.run(locate, [id])
    if (!found) throw notFound(id)
    const [state, generation] = found
    if (seen !== undefined && Number(generation) > seen) throw new AlreadyRetriedError(id, state)

    const accepting = statesAccepting('retry')
    if (accepting.includes(state)) return
    if (AT_WORK.has(state) && Number(generation) > 0) throw new AlreadyRetriedError(id, state)
    throw new InvalidStateError(id, state, 'retry', accepting)
  }
}

const AT_WORK: ReadonlySet<JobState> = new Set(LIVE_STATES)
/** Rolls a transaction back in which nothing was retried; never leaves this file. */
const NOT_REPLACED = new SpillwayError('internal', 'the holder of the key moved')

function paramsOf(id: string, request: RetryRequest, act: ReturnType<typeof actParams>): RetryParams {
  const { budget, force, overrides } = request
  const { queue, priority, runAt, maxAttempts, deadline, payload } = overrides
  return [
    id,
    ...act,
    typeof budget === 'object' ? 'extra' : budget,
    typeof budget === 'object' ? budget.extra : 0,
    force,
    queue ?? null,
    priority ?? null,
    runAt?.getTime() ?? null,
    maxAttempts ?? null,
    deadline?.getTime() ?? null,
    payload ?? null,
  ]
}

/** What the statement did; undefined where it has to be found out. @throws what a guard of the statement refused. */
function answerOf(id: string, row: RetryRow): Acted | undefined {
  const [generation, , capped, maxGenerations, passedDeadline, state, served, queue, , , operation, fingerprint, kind] =
    row
  if (state !== null) {
    const warning = `no live worker serves queue ${JSON.stringify(queue)}: the job waits until one does`
    return {
      id,
      state,
      changed: true,
      ...(operation === null ? {} : { operation }),
      ...(served === 't' ? {} : { warnings: [warning] }),
    }
  }
  if (fingerprint !== null) throw new FingerprintQuarantinedError(fingerprint, kind)
  if (capped === 't') {
    throw new SpillwayError(
      'generation_cap',
      `cannot retry job ${id}: it was retried ${generation} times, and ${maxGenerations} is the queue's cap; \`force\` goes past it`,
    )
  }
  if (passedDeadline !== null) {
    throw new SpillwayError(
      'deadline_passed',
      `cannot retry job ${id}: its deadline ${passedDeadline} has passed; give a new one, or the budget fresh`,
    )
  }
  return undefined
}

function skipped(id: string, state: JobState, holder: string): Acted {
  return { id, state, changed: false, warnings: [`job ${holder} holds its unique key; nothing was done`] }
}
