import type { JobState } from '../../job/states.js'
import type { ClaimedJob, Notice, Settled, Settlement } from '../store.js'
import type { ClaimedRow } from './claimed-row.js'
import type { Database } from './database.js'
import { faultOf, translate } from './errors.js'
import type { SettleStatements, settleQueries } from './queries/settle.js'
import { grouped } from './settle-groups.js'
import { deathParams, documents, ends, numbers, texts } from './settle-params.js'

/** How often it tells of new events. */
const QUIET_MS = 200
/** While the database is away an outcome waits this long; after that the lease is another's anyway. */
const PATIENCE_MS = 10 * 60_000

type Answers = Map<string, JobState | 'gone'>

/** Writes how attempts ended: groups them into the statements of queries/settle.ts and finds out what became of each. */
export class Settler {
  private quietUntil = 0

  constructor(
    private readonly lane: Database,
    private readonly queries: ReturnType<typeof settleQueries>,
    private readonly preparePartitions: () => Promise<unknown>,
    private readonly tell: (notice: Notice) => void,
    private readonly hasReported: (group: readonly Settlement[]) => boolean,
    private readonly channel: string,
  ) {}

  async settle(settlements: readonly Settlement[]): Promise<readonly Settled[]> {
    const answers = new Map<Settlement, Settled>()
    await Promise.all(grouped(settlements).map((group) => this.settleOrSplit(group, answers)))
    return settlements.map((settlement) => answers.get(settlement) as Settled)
  }

  async forgetProgress(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.lane.run(
      this.queries.forgetProgress,
      [numbers(jobs, ({ id }) => id), numbers(jobs, ({ leaseId }) => leaseId)],
      {
        repeatable: true,
      },
    )
  }

  async handlerEnded({ id, leaseId }: ClaimedJob): Promise<void> {
    await this.lane.run(this.queries.handlerEnded, [id, leaseId], { repeatable: true })
  }

  async close(): Promise<void> {
    await this.lane.close()
  }

  /** A row the database refuses must not keep others from being written: the group is halved until it stands alone. */
  private async settleOrSplit(group: readonly Settlement[], answers: Map<Settlement, Settled>): Promise<void> {
    try {
      await this.settleGroup(group, answers)
    } catch (error) {
      const [only, second] = group
      if (only && !second) {
        answers.set(only, { outcome: 'refused', state: null, error })
        return
      }
      const middle = Math.ceil(group.length / 2)
      await this.settleOrSplit(group.slice(0, middle), answers)
      await this.settleOrSplit(group.slice(middle), answers)
    }
  }

  private async settleGroup(group: readonly Settlement[], answers: Map<Settlement, Settled>): Promise<void> {
    const { slot } = group[0]!.job as ClaimedRow
    const here = this.queries.bySlot[slot]!
    let repeated = false
    const found = await this.write(here, group, () => {
      repeated = true
    })
    const answer = (settlement: Settlement, outcome: Settled['outcome'], state: Settled['state']) =>
      answers.set(settlement, { outcome, state })
    let missing = take(group, found, (settlement, state) => answer(settlement, 'applied', state))
    if (missing.length > 0 && repeated) {
      missing = take(missing, await this.applied(missing), (settlement, state) =>
        answer(settlement, 'already_applied', state),
      )
    }
    if (missing.length > 0) {
      // Not where the worker left it: it may have been carried to another slot.
      const elsewhere = await this.write(this.queries.everywhere, missing, () => undefined)
      missing = take(missing, elsewhere, (settlement, state) => answer(settlement, 'applied', state))
    }
    if (missing.length > 0) {
      missing = take(missing, await this.applied(missing), (settlement, state) =>
        answer(settlement, 'already_applied', state),
      )
    }
    for (const settlement of missing) answer(settlement, 'lost', null)
    this.announce(group, answers)
  }

  /** Runs the group's statement; a lost connection is repeated, because the fence answers what had been written. */
  private async write(
    statements: SettleStatements,
    group: readonly Settlement[],
    onUnknown: () => void,
  ): Promise<Answers> {
    const until = performance.now() + PATIENCE_MS
    for (let waitMs = 10; ; ) {
      try {
        return new Map((await this.run(statements, group)) as [string, JobState | 'gone'][])
      } catch (error) {
        const fault = faultOf((error as Error).cause ?? error)
        if (fault === 'partition') {
          await this.preparePartitions()
          continue
        }
        if (fault !== 'unavailable' || performance.now() > until) throw translate(error)
        onUnknown()
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        waitMs = Math.min(waitMs * 2, 1_000)
      }
    }
  }

  private run(statements: SettleStatements, group: readonly Settlement[]): Promise<[id: string, state: string][]> {
    const ids = numbers(group, ({ job }) => job.id)
    const leases = numbers(group, ({ job }) => job.leaseId)
    switch (group[0]?.end.event) {
      case 'complete':
        return this.lane.run(statements.complete, [
          ids,
          leases,
          documents(ends(group, 'complete'), (end) => end.result),
        ])
      case 'retry': {
        const retries = ends(group, 'retry')
        return this.lane.run(statements.retry, [
          ids,
          leases,
          numbers(retries, (end) => Math.round(end.delayMs)),
          numbers(retries, (end) => end.charge),
          documents(retries, (end) => end.entry),
        ])
      }
      case 'dead':
        return this.lane.run(statements.dead, deathParams(group, this.hasReported(group)))
      case 'snooze':
        return this.lane.run(statements.snooze, [
          ids,
          leases,
          numbers(ends(group, 'snooze'), (end) => Math.round(end.delayMs)),
        ])
      case 'wait': {
        const waits = ends(group, 'wait')
        return this.lane.run(statements.wait, [
          ids,
          leases,
          numbers(waits, (end) => end.callbackId),
          numbers(waits, (end) => Math.round(end.retryDelayMs)),
          this.hasReported(group),
          this.channel,
        ])
      }
      case 'revoke':
        return this.lane.run(statements.revoke, [ids, leases])
      case 'handback':
        return this.lane.run(statements.handback, [ids, leases])
      case 'quarantine':
        return this.lane.run(statements.quarantine, [ids, leases])
      case 'undecodable': {
        const parked = ends(group, 'undecodable')
        return this.lane.run(statements.undecodable, [
          ids,
          leases,
          texts(parked, (end) => end.reason),
          documents(parked, (end) => end.entry),
        ])
      }
      default:
        return Promise.resolve([])
    }
  }

  private async applied(group: readonly Settlement[]): Promise<Answers> {
    const rows = await this.lane.run(
      this.queries.alreadyApplied,
      [numbers(group, ({ job }) => job.id), numbers(group, ({ job }) => job.leaseId)],
      { repeatable: true, patienceMs: PATIENCE_MS },
    )
    return new Map(rows as [string, JobState][])
  }

  /** Wakes whoever promotes or claims what went back. */
  private announce(group: readonly Settlement[], answers: Map<Settlement, Settled>): void {
    let due = Number.POSITIVE_INFINITY
    for (const settlement of group) {
      if (answers.get(settlement)?.outcome === 'lost') continue
      const { end, job } = settlement
      if (end.event === 'retry' || end.event === 'snooze') due = Math.min(due, Date.now() + end.delayMs)
      if (end.event === 'handback' || end.event === 'quarantine') {
        this.tell({ type: 'ready', queue: job.queue, priority: job.priority, position: (job as ClaimedRow).position })
      }
    }
    if (due - Date.now() < 60_000) this.tell({ type: 'due', at: due })
    const event = group[0]?.end.event
    if (event === 'dead' || event === 'undecodable') this.tellOfEvents()
  }

  /** Whoever is told looks again and again until there is nothing left, so now and then is enough. */
  private tellOfEvents(): void {
    const now = performance.now()
    if (now < this.quietUntil) return
    this.quietUntil = now + QUIET_MS
    this.tell({ type: 'outbox' })
  }
}

/** Calls `found` for those that came back and returns the others. */
function take(
  group: readonly Settlement[],
  answers: Answers,
  found: (settlement: Settlement, state: JobState | 'gone') => void,
): Settlement[] {
  return group.filter((settlement) => {
    const state = answers.get(settlement.job.id)
    if (state === undefined) return true
    found(settlement, state)
    return false
  })
}
