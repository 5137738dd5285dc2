import { SpillwayError } from '../../job/errors.js'
import type { Act, Bulk, BulkRequest, BulkResult, Operation, OperationRow, Page } from '../store.js'
import { performing } from './acting.js'
import { Batches } from './batches.js'
import { isId } from './cursor.js'
import type { Database, Transaction } from './database.js'
import { Lanes } from './lanes.js'
import { channelOf } from './notices.js'
import { operationOf, type StoredOperation, type StoredParams, shown } from './operation-row.js'
import type { RetryTerms } from './queries/batch.js'
import { bulkQueries } from './queries/bulk.js'
import { laneQueries } from './queries/lanes.js'
import { operationQueries } from './queries/operations.js'
import { Stepping } from './stepping.js'

const LARGEST_ID = '9223372036854775807'

/** Bulk work on PostgreSQL. */
export function bulk(db: Database, schema: string): Bulk {
  const queries = operationQueries(schema)
  const channel = channelOf(schema)
  const perform = performing(db, schema)
  const batches = new Batches(schema, bulkQueries(schema), queries, channel)
  const stepping = new Stepping(schema, db, batches, queries, new Lanes(laneQueries(schema)))

  async function find(id: string): Promise<StoredOperation | undefined> {
    if (!isId(id)) return undefined
    const [row] = await perform(() => db.run(queries.get, [id]))
    return row && operationOf(row)
  }

  async function existing(id: string): Promise<StoredOperation> {
    const operation = await find(id)
    if (operation) return operation
    throw new SpillwayError(
      'operation_not_found',
      `cannot find operation ${id.slice(0, 40)}: list them with \`spillway operations list\``,
    )
  }

  async function create(
    on: Pick<Transaction, 'run'>,
    request: BulkRequest,
    act: Act,
    place: { phase: string; state: string },
    undoOf: string | null = null,
  ): Promise<string> {
    const params: StoredParams = {
      terms: termsOf(request),
      onConflict: request.retry?.onConflict ?? 'fail',
      ...(request.anywhere === true && { anywhere: true }),
    }
    const [row] = await on.run(queries.create, [
      undoOf === null ? request.action : 'undo',
      JSON.stringify(request.selector),
      JSON.stringify(params),
      request.dryRun,
      request.rate,
      request.maxWaiting,
      request.canary,
      request.abortAbove,
      request.holdMs,
      undoOf,
      act.actor,
      act.reason ?? null,
      act.requestId ?? null,
      request.preview,
      place.phase,
      place.state,
    ])
    return (row as [string])[0]
  }

  async function control(
    id: string,
    to: 'running' | 'paused' | 'cancelled',
    from: string[],
    act: Act,
  ): Promise<Operation> {
    const { actor, reason = null, requestId = null } = act
    const [row] = await perform(() =>
      db.run(queries.control, [
        id,
        to,
        from,
        to === 'paused' ? `paused by ${actor}` : null,
        actor,
        reason,
        requestId,
        channel,
      ]),
    )
    if (row) return shown(operationOf(row))
    const operation = await existing(id)
    throw new SpillwayError(
      'invalid_state',
      `cannot ${VERBS[to]} operation ${id}: it is ${operation.state}, and only ${from.join(' and ')} ones can`,
    )
  }

  return {
    async startOperation(request, act) {
      const bound = request.preview === null ? undefined : await existing(request.preview)
      if (bound && (!bound.dryRun || bound.state !== 'done')) {
        throw new SpillwayError(
          'invalid_option',
          `operation ${bound.id} is no finished dry run, so there is no preview to be bound to`,
        )
      }
      if (bound && bound.action !== request.action) {
        throw new SpillwayError(
          'invalid_option',
          `cannot ${request.action} by operation ${bound.id}: it is the preview of a ${bound.action}; make one of a ${request.action}`,
        )
      }
      const selector = bound ? bound.selector : request.selector
      const ids = selector.ids && [...new Set(selector.ids)]
      const whole = { ...request, selector: ids ? { ...selector, ids } : selector }
      const id = await perform(() => create(db, whole, act, { phase: 'counting', state: 'running' }))
      await db.run(queries.notify, [channel])
      return shown(await existing(id))
    },

    async actOnIds(ids, request, act): Promise<BulkResult> {
      const numeric = [...new Set(ids.filter(isId))]
      const unknown = ids.filter((id) => !isId(id)).map((id) => ({ id, code: 'not_found', message: noNumber(id) }))
      const bound = { ...request, selector: { ids: numeric } }
      // The note, its audit row and the effect: all or none.
      return perform(() =>
        db.transaction(async (tx) => {
          const id = await create(tx, bound, act, ENDED)
          const [row] = await tx.run(queries.get, [id])
          const { succeeded, failed } = await batches.actAtOnce(tx, operationOf(row ?? []), numeric)
          const [after] = await tx.run(queries.get, [id])
          return { succeeded, failed: [...unknown, ...failed], operation: shown(operationOf(after ?? [])) }
        }),
      )
    },

    async actOnOne(id, request, act) {
      if (!isId(id)) return { refused: 'not_found' }
      try {
        return await perform(() =>
          db.transaction(async (tx) => {
            const operation = await create(tx, { ...request, selector: { ids: [id] } }, act, ENDED)
            const [row] = await tx.run(queries.get, [operation])
            const { failed } = await batches.actAtOnce(tx, operationOf(row ?? []), [id])
            const [refusal] = failed
            if (refusal) throw new NothingDone(refusal.code)
            return { operation }
          }),
        )
      } catch (error) {
        if (error instanceof NothingDone) return { refused: error.why }
        throw error
      }
    },

    async stepOperation(id, runner) {
      if (!isId(id)) await existing(id)
      return perform(() => stepping.step(id, runner))
    },

    async orphanOperation() {
      return (await db.run(queries.orphan, []))[0]?.[0]
    },

    async getOperation(id) {
      const operation = await find(id)
      return operation && shown(operation)
    },

    async listOperations({ limit, cursor }): Promise<Page<Operation>> {
      const rows = await db.run(queries.list, [checkCursor(cursor) ?? LARGEST_ID, limit + 1])
      const items = rows.slice(0, limit).map((row) => shown(operationOf(row)))
      return { items, cursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },

    async operationRows(id, { limit, cursor }): Promise<Page<OperationRow>> {
      await existing(id)
      const rows = await db.run(queries.rowsOf, [id, checkCursor(cursor) ?? '0', limit + 1])
      const items = rows.slice(0, limit).map(([jobId, outcome, code, message]) => ({
        id: jobId,
        outcome: outcome as OperationRow['outcome'],
        code,
        message,
      }))
      return { items, cursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },

    pauseOperation: (id, act) => control(id, 'paused', ['running'], act),
    resumeOperation: (id, act) => control(id, 'running', ['paused'], act),
    cancelOperation: (id, act) => control(id, 'cancelled', ['running', 'paused'], act),

    async setOperationRate(id, rate, maxWaiting, act) {
      const { actor, reason = null, requestId = null } = act
      if (!isId(id)) await existing(id)
      const [row] = await perform(() =>
        db.run(queries.setRate, [id, rate ?? null, maxWaiting, actor, reason, requestId, channel, rate === undefined]),
      )
      if (row) return shown(operationOf(row))
      const operation = await existing(id)
      throw new SpillwayError('invalid_state', `cannot change the rate of operation ${id}: it is ${operation.state}`)
    },

    async undoOperation(id, act) {
      const operation = await existing(id)
      refuseUndo(operation)
      const request: BulkRequest = {
        action: operation.action as BulkRequest['action'],
        selector: operation.selector,
        dryRun: false,
        rate: null,
        maxWaiting: 0,
        canary: null,
        abortAbove: 0,
        holdMs: 0,
        preview: null,
      }
      const made = await perform(() => create(db, request, act, { phase: 'moving', state: 'running' }, id)).catch(
        (error: unknown) => {
          const cause = (error as Error).cause as { code?: string } | undefined
          if (cause?.code !== '23505') throw error
          throw new SpillwayError('not_undoable', `cannot undo operation ${id}: it has been undone already`)
        },
      )
      await db.run(queries.notify, [channel])
      return shown(await existing(made))
    },
  }
}

const ENDED = { phase: 'ended', state: 'done' } as const

/** Takes a refused action back, its note with it; never leaves this file. */
class NothingDone extends SpillwayError {
  constructor(readonly why: string) {
    super('internal', `nothing was done: ${why}`)
  }
}

const VERBS = { running: 'resume', paused: 'pause', cancelled: 'cancel' } as const

function refuseUndo({ id, action, state, dryRun, undoneBy }: StoredOperation): void {
  const why =
    action !== 'retry' && action !== 'discard'
      ? `it is a ${action}, and only retry and discard can be taken back`
      : dryRun
        ? 'it was a dry run and changed nothing'
        : undoneBy !== null
          ? `operation ${undoneBy} has undone it`
          : state === 'running' || state === 'paused'
            ? `it is ${state}; cancel it first`
            : undefined
  if (why) throw new SpillwayError('not_undoable', `cannot undo operation ${id}: ${why}`)
}

function termsOf({ retry }: BulkRequest): RetryTerms {
  const { queue, priority, runAt, maxAttempts, deadline, payload } = retry?.overrides ?? {}
  const budget = retry?.budget ?? 'fresh'
  return {
    budget: typeof budget === 'object' ? 'extra' : budget,
    extra: typeof budget === 'object' ? budget.extra : 0,
    force: retry?.force ?? false,
    queue: queue ?? null,
    priority: priority ?? null,
    runAtMs: runAt?.getTime() ?? null,
    maxAttempts: maxAttempts ?? null,
    deadlineMs: deadline?.getTime() ?? null,
    payload: payload ?? null,
  }
}

function checkCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined || isId(cursor)) return cursor
  throw new SpillwayError(
    'invalid_option',
    `cannot go on after ${JSON.stringify(cursor.slice(0, 40))}: hand back the cursor of the page before`,
  )
}

function noNumber(id: string): string {
  return `cannot find job ${id.slice(0, 40)}: ids are decimal numbers`
}
