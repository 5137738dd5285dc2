import { InvalidStateError, SpillwayError } from '../../job/errors.js'
import { type JobEvent, statesAccepting } from '../../job/lifecycle.js'
import type { JobState } from '../../job/states.js'
import type { Acted, Operating } from '../store.js'
import { actParams, MAX_TRIES, moving, notFound, performing } from './acting.js'
import { isId } from './cursor.js'
import type { Database } from './database.js'
import { channelOf } from './notices.js'
import { inspectQueries } from './queries/inspect.js'
import { type MovedRow, operateQueries } from './queries/operate.js'
import { purgeQueries } from './queries/purge.js'
import { queueQueries } from './queries/queues.js'
import { queueOf } from './queue-row.js'
import { retrying } from './retrying.js'

/** What operators do to jobs and queues on PostgreSQL. Effect and audit row are one transaction. */
export function operating(db: Database, schema: string): Operating {
  const queries = operateQueries(schema)
  const queues = queueQueries(schema)
  const { purge } = purgeQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  return {
    retryJob: retrying(db, schema),

    cancelJob: (id, act) => move(id, 'cancel', () => db.run(queries.cancel, [id, ...actParams(act, channel), true])),

    purgeJob: async (id, act) => ({
      ...(await move(id, 'purge', () => db.run(purge, [id, ...actParams(act, channel)]))),
      state: 'gone',
    }),

    promoteJob: (id, act) => move(id, 'promote', () => db.run(queries.promote, [id, ...actParams(act, channel)])),

    rescheduleJob: (id, runAt, act) =>
      move(id, 'reschedule', () => db.run(queries.reschedule, [id, ...actParams(act, channel), runAt.getTime()])),

    async setQueue(queue, patch, act) {
      const { dlqEnabled = null, retention = {}, ...policy } = patch
      const texts = [retention, policy, patch].map((part) => JSON.stringify(part)) as [string, string, string]
      return stored(await perform(() => db.run(queues.set, [queue, ...actParams(act, channel), dlqEnabled, ...texts])))
    },

    async pauseQueue(queue, act) {
      return stored(await perform(() => db.run(queues.pause, [queue, ...actParams(act, channel)])))
    },

    async resumeQueue(queue, act) {
      return stored(await perform(() => db.run(queues.resume, [queue, ...actParams(act, channel)])))
    },
  }

  /**
   * Acts, and where nothing moved looks for the job in a new statement: another state answers, a state that accepts the
   * event means that it moved between the two, so it acts again.
   */
  async function move(id: string, event: JobEvent, act: () => Promise<MovedRow[]>): Promise<Acted> {
    if (!isId(id)) throw notFound(id)
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [row] = await perform(act)
      if (row) return { id, state: row[0], changed: true }

      const [found] = await db.run(locate, [id])
      if (!found) throw notFound(id)
      if (event === 'cancel' && found[0] === 'cancelled') return { id, state: 'cancelled', changed: false }
      refuse(id, found[0], event)
    }
    throw moving(id, event)
  }
}

/** @throws `invalid_state` where `state` does not accept `event`. */
function refuse(id: string, state: JobState, event: JobEvent): void {
  const accepting = statesAccepting(event)
  if (!accepting.includes(state)) throw new InvalidStateError(id, state, event, accepting)
}

function stored(rows: readonly Parameters<typeof queueOf>[0][]) {
  const [row] = rows
  if (row) return queueOf(row)
  throw new SpillwayError('internal', 'PostgreSQL answered nothing for a queue that was just written')
}
