import { InvalidStateError } from '../../job/errors.js'
import type { JobState } from '../../job/states.js'
import { MAX_TRIES } from './acting.js'
import { isId } from './cursor.js'
import type { Transaction } from './database.js'
import type { StoredOperation } from './operation-row.js'
import { placesOf, statesTaken } from './places.js'
import type { BatchAct, BatchRow, BatchScope } from './queries/batch.js'
import type { bulkQueries } from './queries/bulk.js'
import { lookQueries } from './queries/look.js'
import { operateQueries } from './queries/operate.js'
import type { operationQueries } from './queries/operations.js'
import type { SourceName } from './queries/sources.js'
import { textArray } from './text-array.js'

/** A row that was not done, and why. */
export interface Refusal {
  readonly id: string
  readonly code: string
  readonly message: string
}

/** What one batch did. */
export interface Batch {
  readonly done: readonly string[]
  readonly refused: readonly Refusal[]
  /** Locked by another transaction; to be looked at again. */
  readonly locked: readonly string[]
  readonly at: string | null
  readonly id: string | null
  readonly ended: boolean
}

/** It is where the action looks, and was not taken: it moved meanwhile, or the selector leaves it out. */
const NOT_SELECTED = 'not_selected'

/** Runs the statements of queries/bulk.ts and says in words what they refused. */
export class Batches {
  private readonly cancel
  private readonly looks

  constructor(
    schema: string,
    private readonly queries: ReturnType<typeof bulkQueries>,
    private readonly operations: ReturnType<typeof operationQueries>,
    private readonly channel: string,
  ) {
    this.cancel = operateQueries(schema).cancel
    this.looks = lookQueries(schema)
  }

  /**
   * One batch inside the caller's transaction. Named rows are looked for in one place after another; one that moves from a
   * later to an earlier one meanwhile is found by the next batch.
   */
  async run(tx: Transaction, operation: StoredOperation, scope: BatchScope): Promise<Batch> {
    const [first, ...others] = placesOf(operation)
    let batch = await this.runIn(first, tx, operation, scope)
    if (scope.type === 'window') return batch
    for (const place of others) {
      const found = new Set([...batch.done, ...batch.locked, ...batch.refused.map(({ id }) => id)])
      const ids = scope.ids.filter((id) => !found.has(id))
      if (ids.length === 0) break
      const next = await this.runIn(place, tx, operation, { ...scope, ids })
      batch = {
        ...next,
        done: [...batch.done, ...next.done],
        refused: [...batch.refused, ...next.refused],
        locked: [...batch.locked, ...next.locked],
      }
    }
    return batch
  }

  private async runIn(
    place: SourceName,
    tx: Transaction,
    operation: StoredOperation,
    scope: BatchScope,
  ): Promise<Batch> {
    const act: BatchAct = {
      operation: operation.id,
      actor: operation.createdBy,
      reason: operation.reason,
      channel: this.channel,
    }
    const [statement, values] = this.statement(operation, scope, act, place)
    const [row] = await tx.run(statement, values)
    const [done, refused, locked, at, id, ended] = row as BatchRow
    return {
      done: textArray(done),
      refused: (JSON.parse(refused ?? '[]') as [string, string, string | null][]).map(([jobId, code, key]) => ({
        id: jobId,
        code,
        message: sayRefused(jobId, code, key),
      })),
      locked: textArray(locked),
      at,
      id,
      ended: ended === 't',
    }
  }

  /**
   * All of them now, in the caller's transaction: what is locked is waited for, what moves is looked for again, and what
   * is somewhere else says where.
   */
  async actAtOnce(
    tx: Transaction,
    operation: StoredOperation,
    ids: readonly string[],
  ): Promise<{ succeeded: string[]; failed: Refusal[] }> {
    const { onConflict } = operation
    const succeeded: string[] = []
    const refused = new Map<string, Refusal>()
    let open = ids
    for (let tries = 0; open.length > 0 && tries < MAX_TRIES; tries++) {
      const batch = await this.run(tx, operation, { type: 'ids', ids: open, selector: {}, snapshot: null, wait: true })
      succeeded.push(...batch.done)
      for (const refusal of batch.refused) refused.set(refusal.id, refusal)
      const done = new Set(batch.done)
      const missing = open.filter((id) => !done.has(id) && !refused.has(id))
      const said = await this.sayAllMissing(tx, missing, operation)
      open = said.filter(({ code }) => code === NOT_SELECTED).map(({ id }) => id)
      for (const refusal of said) if (refusal.code !== NOT_SELECTED) refused.set(refusal.id, refusal)
    }
    for (const id of open) refused.set(id, { id, code: 'job_moving', message: `job ${id} kept moving; try again` })
    if (onConflict === 'replace') {
      for (const { id, code } of [...refused.values()]) {
        if (code !== 'unique_conflict') continue
        const answer = await this.replace(tx, operation, id)
        if (answer === 'done') succeeded.push(id)
        if (answer === 'done') refused.delete(id)
        else if (answer !== 'again') refused.set(id, answer)
      }
    }
    const failed = [...refused.values()]
    const skipped = onConflict === 'skip' ? failed.filter(({ code }) => code === 'unique_conflict') : []
    await this.note(
      tx,
      operation.id,
      failed.filter((it) => !skipped.includes(it)),
      'failed',
    )
    await this.note(tx, operation.id, skipped, 'skipped')
    const counts = [ids.length, succeeded.length, skipped.length, failed.length - skipped.length, 0] as const
    await tx.run(this.operations.account, [operation.id, 'ended', '-infinity', '0', ...counts, 0, 'done', null, null])
    return { succeeded, failed }
  }

  /**
   * Retries one dead job in place of the job that holds its key, which is cancelled unless it runs. Both or neither.
   *
   * @returns `again` where one of them moved meanwhile.
   */
  async replace(tx: Transaction, operation: StoredOperation, id: string): Promise<'done' | 'again' | Refusal> {
    const refused = (code: string, message: string) => ({ id, code, message })
    const [holder] = await tx.run(this.looks.holderOf, [id, operation.id])
    if (holder?.[1] === 't') {
      return refused(
        'unique_conflict',
        `job ${holder[0]} holds the unique key of job ${id} and is running, so it is not replaced`,
      )
    }
    if (holder?.[2] === 't') {
      return refused(
        'unique_conflict',
        `job ${holder[0]} has the unique key of job ${id}, and this very retry has brought it back`,
      )
    }
    await tx.execute('savepoint replacing')
    if (holder) {
      const by = `replaced by a retry of job ${id}`
      const act = [operation.createdBy, by, null, this.channel] as const
      const [cancelled] = await tx.run(this.cancel, [holder[0], ...act, false])
      if (!cancelled) return this.undone(tx, 'again')
    }
    const scope = { type: 'ids', ids: [id], selector: {}, snapshot: operation.snapshot, wait: false } as const
    const { done, refused: found, locked } = await this.run(tx, operation, scope)
    if (done.length > 0) {
      await tx.execute('release savepoint replacing')
      return 'done'
    }
    const [why] = found
    if (locked.length > 0 || why?.code === 'unique_conflict') return this.undone(tx, 'again')
    return this.undone(tx, why ?? refused('vanished', `somebody else moved job ${id} while this retry was under way`))
  }

  private async undone<T>(tx: Transaction, answer: T): Promise<T> {
    await tx.execute('rollback to savepoint replacing')
    return answer
  }

  /** Why named rows were not where the action looks: {@link NOT_SELECTED} where they are. */
  async sayAllMissing(tx: Transaction, ids: readonly string[], operation: StoredOperation): Promise<Refusal[]> {
    if (ids.length === 0) return []
    const { action, selector } = operation
    const queues = selector.queue === undefined ? selector.queues : [selector.queue]
    const rows = await tx.run(this.looks.whereabouts, [ids.filter(isId)])
    // Whoever names queues may be somebody who reaches no others: what lies there is not spoken of.
    const found = new Map(
      rows.flatMap(([id, state, queue]) => ((queues?.includes(queue) ?? true) ? [[id, state]] : [])),
    )
    const wanted = statesTaken(operation)
    return ids.map((id) => {
      if (!isId(id))
        return { id, code: 'not_found', message: `cannot find job ${id.slice(0, 40)}: ids are decimal numbers` }
      const state = found.get(id) as JobState | undefined
      if (state === undefined) {
        const nowhere = queues === undefined ? 'it is' : `it is in none of the queues of this ${action},`
        return {
          id,
          code: 'not_found',
          message: `cannot find job ${id}: ${nowhere} in no state any more, or never was`,
        }
      }
      if (wanted.includes(state)) {
        return {
          id,
          code: NOT_SELECTED,
          message: `job ${id} died after this ${action} was bound, or is not what it selects`,
        }
      }
      return {
        id,
        code: 'invalid_state',
        message: new InvalidStateError(id, state, action, wanted).message,
      }
    })
  }

  async note(
    tx: Transaction,
    operation: string,
    refusals: readonly Refusal[],
    outcome: 'failed' | 'skipped' | 'pending',
  ): Promise<void> {
    if (refusals.length === 0) return
    await tx.run(this.operations.note, [
      operation,
      refusals.map(({ id }) => id),
      refusals.map(() => outcome),
      refusals.map(({ code }) => code),
      refusals.map(({ message }) => message),
    ])
  }

  private statement(operation: StoredOperation, scope: BatchScope, act: BatchAct, place: SourceName) {
    switch (operation.action) {
      case 'retry':
        return this.queries.retry(scope, act, operation.terms)
      case 'discard':
        return place === 'dead' ? this.queries.discard(scope, act) : this.queries.discardHeld(scope, act, place)
      case 'purge':
        return this.queries.purge(scope, place)
      case 'move':
        return this.queries.move(scope, act)
      case 'undo':
        throw new Error('an undo has no batches of this kind')
    }
  }
}

function sayRefused(id: string, code: string, key: string | null): string {
  switch (code) {
    case 'unique_conflict':
      return `another live or held job has the unique key ${JSON.stringify(key)} of job ${id}`
    case 'fingerprint_quarantined':
      return `the fingerprint of job ${id} is quarantined; \`spillway quarantine list\` shows it`
    case 'generation_cap':
      return `job ${id} was retried as often as its queue allows; \`force\` goes past it`
    case 'deadline_passed':
      return `the deadline of job ${id} has passed; give a new one, or the budget fresh`
    default:
      return `job ${id} was refused: ${code}`
  }
}
