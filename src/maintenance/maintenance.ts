import { randomUUID } from 'node:crypto'
import type { DeathEvent } from '../job/death.js'
import type { DutyName } from '../job/duties.js'
import type { Bulk, Eventing, Hooking, Lead, Notice, Overseeing, Rescued, RetainPart, Upkeep } from '../store/store.js'
import { Duty } from './duty.js'
import { DutyReport } from './duty-report.js'
import { Leader } from './leader.js'
import { runOrphans } from './operations.js'
import { Promoting } from './promoting.js'
import { Sending, type SendingOptions } from './sending.js'
import { Sequencing } from './sequencing.js'
import { Turning } from './turning.js'

export interface MaintenanceOptions {
  /** After this long in silence a worker's jobs are taken back. Default: 45 s. */
  readonly staleMs?: number | (() => number)
  /** Crashes that hold a job, where its queue does not say otherwise. Default: 3. */
  readonly crashLimit?: number
  /** Told of the deaths that a duty of this process has written, once they are durable. */
  readonly onDeaths?: (deaths: readonly DeathEvent[]) => void
  readonly webhooks?: SendingOptions
  /** Told of what a rescue of this process did. */
  readonly onRescued?: (rescued: Rescued) => void
  /** Told of what failed; it is tried again by itself. `duty` is `leader` for the lease itself. */
  readonly onError?: (error: Error, duty: string) => void
}

const LEASE_MS = 10_000
const RESCUE_MS = 15_000
const RETAIN_MS = 60_000
/** A cap on dead letters is passed by what dies in so long. */
const EVICT_MS = 20_000
const PARTITIONS_MS = 3_600_000
const BATCH = 1_000
/** How often kinds are looked for that nobody serves, at most and at least. */
const UNSERVED_MS = 30_000
const UNSERVED_SOON_MS = 1_000
/** Some kind has waited for long enough, and its jobs, which came later, have not. */
const UNSERVED_YOUNG_MS = 5_000
const FOLD_BATCH = 10_000
/** How long stop() waits for a pass under way; what it has begun commits or rolls back without us. */
const STOP_MS = 2_000
const NEVER = Number.POSITIVE_INFINITY

/**
 * What a queue needs besides workers: due jobs made available, jobs of dead workers taken back, deadlines, space, retention.
 *
 * Any number of processes may run it; the one that leads does the work, and another follows within 15 s when it dies.
 * Each duty has its own schedule and short transactions: one that fails or hangs delays no other. Idle, all of it costs
 * about half a statement a second.
 *
 * @example
 * const maintenance = new Maintenance(store, { staleMs: 45_000, onError: (error, duty) => log.warn({ error, duty }) })
 * await maintenance.start()
 */
export class Maintenance {
  private readonly leader: Leader
  private readonly promoting: Promoting
  private readonly turning: Turning
  private readonly sending: Sending
  private readonly sequencing: Sequencing
  private readonly reports: DutyReport
  private readonly duties: Readonly<Record<DutyName, Duty>>
  private stopped: Promise<void> | undefined
  private readonly runner = `maintenance ${randomUUID()}`
  private paused: ReadonlySet<string> = new Set()
  private policyVersion = ''

  constructor(
    private readonly store: Upkeep & Bulk & Eventing & Hooking & Pick<Overseeing, 'duties'>,
    private readonly options: MaintenanceOptions = {},
  ) {
    this.promoting = new Promoting(store)
    this.turning = new Turning(store)
    this.sequencing = new Sequencing(store)
    this.sending = new Sending(
      store,
      options.webhooks ?? {},
      () => this.duties.webhooks.wake(),
      (error) => options.onError?.(error, 'webhooks'),
    )
    this.reports = new DutyReport(store)
    this.leader = new Leader(store, {
      name: 'maintenance',
      // Who asks for faster rescues also wants a dead leader replaced faster.
      ttlMs: () => Math.min(LEASE_MS, Math.max(1_000, this.staleMs / 4)),
      passes: () => ({ succeeded: this.reports.tell(), underWay: this.underWay() }),
      onLead: (look, isNew) => this.lead(look, isNew),
      onError: (error) => options.onError?.(error, 'leader'),
    })
    this.duties = {
      promote: this.duty('promote', 50, () => this.promoting.pass()),
      rescue: this.duty('rescue', 50, () => this.rescue()),
      deadlines: this.duty('deadlines', 50, () => this.expireDeadlines()),
      callbacks: this.duty('callbacks', 50, () => this.timeOut()),
      unserved: this.duty('unserved', 500, () => this.unserved()),
      rings: this.duty('rings', 100, () => this.turning.pass()),
      fold: this.duty('fold', 500, async () => ((await store.fold(FOLD_BATCH)) >= FOLD_BATCH ? 0 : NEVER)),
      retain: this.duty('retain', 50, () => this.retain('finished', RETAIN_MS)),
      retain_dlq: this.duty('retain_dlq', 50, () => this.retain('dead', RETAIN_MS)),
      retain_held: this.duty('retain_held', 50, () => this.retain('parked', RETAIN_MS)),
      evict: this.duty('evict', 50, () => this.retain('evict', EVICT_MS)),
      forget: this.duty('forget', 50, () => this.retain('bookkeeping', RETAIN_MS)),
      partitions: this.duty('partitions', 1_000, async () => {
        await store.preparePartitions()
        return PARTITIONS_MS
      }),
      operations: this.duty('operations', 50, () =>
        runOrphans(store, this.runner, () => this.leader.isLeading && !this.stopped),
      ),
      // Where nobody listens, nobody else would tell of new ones.
      events: this.duty('events', 50, () => this.sequencing.pass(() => this.duties.webhooks.wake())),
      webhooks: this.duty('webhooks', 50, async () => ((await this.sending.pass()) > 0 ? 0 : NEVER)),
    }
  }

  get isLeading(): boolean {
    return this.leader.isLeading
  }

  /** Resolves when it is known who leads. Never rejects: what fails is reported and tried again. */
  async start(): Promise<void> {
    if (this.stopped) return
    for (const duty of Object.values(this.duties)) duty.start()
    // The process that starts may just have ended registrations of a predecessor; whoever leads would see it later.
    void this.duties.rescue.runOnce().catch(() => undefined)
    await this.leader.start()
  }

  /**
   * Gives the lead up and ends the passes under way, within 3 s. May be called twice, before {@link start}, and during it.
   */
  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  /** Wakes what a notice is about before its time. */
  heard(notice: Notice): void {
    this.promoting.heard(notice, this.duties.promote)
    this.turning.heard(notice, this.duties.rings)
    if (notice.type === 'operation') this.duties.operations.wake()
    if (notice.type === 'outbox') this.duties.events.wake()
    if (notice.type === 'events') this.duties.webhooks.wake()
    if (notice.type === 'policy') this.duties.unserved.wake()
    if (notice.type === 'policy' || notice.type === 'resync') void this.follow()
  }

  /** Does one pass of a duty now, whoever leads. Rejects with what it threw. */
  runOnce(duty: DutyName): Promise<void> {
    return this.duties[duty].runOnce()
  }

  private async shutDown(): Promise<void> {
    const ends: Promise<void>[] = Object.values(this.duties).map((duty) => duty.stop())
    ends.push(this.sending.stop())
    await within(STOP_MS, Promise.all(ends))
    await within(STOP_MS / 2, this.leader.stop())
  }

  private lead(look: Lead, isNew: boolean): void {
    this.reports.told()
    this.setPaused(look.pausedDuties)
    if (look.policyVersion !== this.policyVersion) this.limitsChanged()
    this.policyVersion = look.policyVersion
    if (isNew) for (const duty of Object.values(this.duties)) duty.wake()
    if (look.hasExpired) this.duties.deadlines.wake()
    if (look.nextTimeoutInMs !== null) this.duties.callbacks.wake(Math.max(0, look.nextTimeoutInMs))
    if (look.hasDeltas) this.duties.fold.wake()
    if (look.hasOrphans) this.duties.operations.wake()
    if (look.hasEvents) this.duties.events.wake()
    if (look.hasDeliveries) this.duties.webhooks.wake()
    this.promoting.looked(look, this.duties.promote)
    this.turning.looked(look, this.duties.rings)
  }

  private underWay(): Record<string, number> {
    return Object.fromEntries(
      Object.values(this.duties).flatMap(({ name, underWayMs }) =>
        underWayMs === undefined ? [] : [[name, underWayMs]],
      ),
    )
  }

  private async rescue(): Promise<number> {
    const rescued = await this.store.rescue(this.staleMs, this.options.crashLimit ?? 3)
    this.options.onRescued?.(rescued)
    const { retried, quarantined } = rescued
    if (quarantined > 0) this.duties.events.wake()
    return retried >= BATCH ? 0 : Math.min(RESCUE_MS, this.staleMs / 3)
  }

  private async timeOut(): Promise<number> {
    const { timedOut, nextInMs } = await this.store.timeOutCallbacks(BATCH, this.options.onDeaths)
    if (timedOut > 0) this.duties.events.wake()
    if (timedOut >= BATCH) return 0
    // A ms more, because both clocks are read in whole ones.
    return nextInMs === null ? NEVER : nextInMs + 1
  }

  private async expireDeadlines(): Promise<number> {
    const expired = await this.store.expireDeadlines(BATCH, this.options.onDeaths)
    if (expired > 0) this.duties.events.wake()
    return expired >= BATCH ? 0 : NEVER
  }

  private async unserved(): Promise<number> {
    const { returned, died, nextInMs } = await this.store.judgeUnserved(this.staleMs, BATCH, this.options.onDeaths)
    if (died > 0) this.duties.events.wake()
    if (returned >= BATCH || died >= BATCH) return 0
    if (nextInMs !== null && nextInMs <= 0) return UNSERVED_YOUNG_MS
    return Math.min(UNSERVED_MS, Math.max(UNSERVED_SOON_MS, nextInMs ?? UNSERVED_MS))
  }

  private async retain(part: RetainPart, restMs: number): Promise<number> {
    const deleted = await this.store.retain(BATCH, part)
    if (deleted['evicted']) this.duties.events.wake()
    return Object.values(deleted).some((n) => n >= BATCH) ? 0 : restMs
  }

  /** A policy, a limit or a pause has changed: what it is about acts on it now, not after its rest. */
  private async follow(): Promise<void> {
    if (!this.leader.isLeading) return
    try {
      this.setPaused((await this.store.duties()).filter(({ pausedAt }) => pausedAt !== null).map(({ duty }) => duty))
    } catch (error) {
      // The next look of the leader brings it along.
      this.options.onError?.(error as Error, 'leader')
    }
    this.limitsChanged()
  }

  private limitsChanged(): void {
    for (const duty of LIMITED) this.duties[duty].wake()
  }

  /** A pass under way ends; what was paused no longer begins at once. */
  private setPaused(names: readonly string[]): void {
    const before = this.paused
    this.paused = new Set(names)
    for (const duty of Object.values(this.duties)) {
      if (before.has(duty.name) && !this.paused.has(duty.name)) duty.wake()
    }
  }

  private get staleMs(): number {
    const { staleMs = 45_000 } = this.options
    return typeof staleMs === 'number' ? staleMs : staleMs()
  }

  private duty(name: DutyName, restMs: number, pass: () => Promise<number>): Duty {
    return new Duty({
      name,
      restMs,
      pass,
      mayRun: () => this.leader.isLeading && !this.paused.has(name),
      onPass: (error) => {
        if (error) this.options.onError?.(error, name)
        return this.reports.passed(name, error)
      },
    })
  }
}

/** Whose limits are policy. */
const LIMITED = ['retain', 'retain_dlq', 'retain_held', 'evict', 'rings'] as const satisfies readonly DutyName[]

/** Resolves with `work`, or after `ms` without it. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
