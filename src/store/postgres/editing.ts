import { causeOf, normaliseMessage } from '../../job/cause.js'
import { FingerprintQuarantinedError, InvalidStateError, SpillwayError, UniqueConflictError } from '../../job/errors.js'
import { type JobEvent, statesAccepting } from '../../job/lifecycle.js'
import { cutSecrets } from '../../job/secrets.js'
import type { Editing, RetryOverrides } from '../store.js'
import { actParams, MAX_TRIES, moving, notFound, performing } from './acting.js'
import { isId } from './cursor.js'
import type { Database } from './database.js'
import { faultOf } from './errors.js'
import { channelOf } from './notices.js'
import { type CloneRow, cloneQueries } from './queries/clone.js'
import { editQueries } from './queries/edit.js'
import { inspectQueries } from './queries/inspect.js'
import { killQueries } from './queries/kill.js'
import { retryQueries } from './queries/retry.js'

/** Giving jobs up by hand, changing and copying them, on PostgreSQL. Effect and audit row are one transaction. */
export function editing(db: Database, schema: string): Editing {
  const { kill } = killQueries(schema)
  const edits = editQueries(schema)
  const { clone } = cloneQueries(schema)
  const { holder } = retryQueries(schema)
  const { locate } = inspectQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)

  /**
   * Acts until something came of it. Where nothing did, looks for the job in a new statement: a state that does not accept
   * the event refuses, one that does means that the job moved between the two.
   */
  async function acting<Row>(id: string, event: JobEvent, act: () => Promise<Row[]>): Promise<Row> {
    if (!isId(id)) throw notFound(id)
    const accepting = statesAccepting(event)
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [row] = await perform(act).catch((error: unknown) => {
        // Another edit took the number of the version: look again at what is stored now.
        if (faultOf((error as Error).cause) === 'unique') return []
        throw error
      })
      if (row) return row
      const [found] = await db.run(locate, [id])
      if (!found) throw notFound(id)
      if (!accepting.includes(found[0])) throw new InvalidStateError(id, found[0], event, accepting)
    }
    throw moving(id, event)
  }

  return {
    async killJob(id, act) {
      const reason = act.reason === undefined || act.reason === '' ? 'manual' : act.reason
      const { errorClass, title } = causeOf({ kind: '', errorClass: null, message: null, stack: null, reason })
      const text = errorClass === 'operator' ? normaliseMessage(cutSecrets(reason)) : ''
      const params = actParams(act, channel)
      const [state] = await acting(id, 'kill', () => db.run(kill, [id, ...params, reason, errorClass, text, title]))
      return { id, state, changed: true }
    },

    async editPayload(id, payload, act) {
      const [state, version] = await acting(id, 'edit_payload', () =>
        db.run(edits.payload, [id, ...actParams(act, channel), payload]),
      )
      return { id, state, changed: true, version: Number(version) }
    },

    async editJob(id, { priority, queue }, act) {
      const changed = JSON.stringify([
        ...(priority === undefined ? [] : ['priority']),
        ...(queue === undefined ? [] : ['queue']),
      ])
      const [state] = await acting(id, 'edit', () =>
        db.run(edits.settings, [id, ...actParams(act, channel), priority ?? null, queue ?? null, changed]),
      )
      return { id, state, changed: true }
    },

    async cloneJob(id, overrides, act) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const row: CloneRow = await acting(id, 'clone', () =>
          db.run(clone, [id, ...actParams(act, channel), ...cloneParams(overrides)]),
        )
        const [uniqueKey, passedDeadline, newId, state, served, queue, , barred, fingerprint, kind] = row
        if (barred === 't') throw new FingerprintQuarantinedError(fingerprint, kind)
        if (newId !== null && state !== null) {
          const warning = `no live worker serves queue ${JSON.stringify(queue)}: the job waits until one does`
          return { id: newId, originId: id, state, changed: true, ...(served === 't' ? {} : { warnings: [warning] }) }
        }
        if (passedDeadline !== null) {
          throw new SpillwayError(
            'deadline_passed',
            `cannot clone job ${id}: the deadline ${passedDeadline} has passed; give a later one`,
          )
        }
        const holderId = uniqueKey === null ? undefined : (await db.run(holder, [uniqueKey]))[0]?.[0]
        if (uniqueKey !== null && holderId !== undefined) throw new UniqueConflictError(uniqueKey, holderId)
      }
      throw moving(id, 'clone')
    },

    async payloadVersions(id) {
      if (!isId(id)) return []
      const rows = await db.run(edits.versions, [id], { repeatable: true, patienceMs: 5_000 })
      return rows.map(([version, payload, editedAtMs, editedBy, reason]) => ({
        version: Number(version),
        payload,
        editedAt: new Date(Number(editedAtMs)),
        editedBy,
        reason,
      }))
    },
  }
}

function cloneParams({ queue, priority, runAt, maxAttempts, deadline, payload }: RetryOverrides) {
  return [
    queue ?? null,
    priority ?? null,
    runAt?.getTime() ?? null,
    maxAttempts ?? null,
    deadline?.getTime() ?? null,
    payload ?? null,
  ] as const
}
