import { randomInt } from 'node:crypto'
import type { DeathEvent } from '../job/death.js'
import { SpillwayError } from '../job/errors.js'
import { DEFAULT_POLICY } from '../job/policy.js'
import type { Listening, Notice, Pulse, Settled, Store, WorkerInfo, WorkerSession } from '../store/store.js'
import { Attempts } from './attempts.js'
import { DeathTeller, deathOf, reachedBy } from './death.js'
import { deathTxOf } from './death-tx.js'
import { WorkerEmitter } from './events.js'
import { Executor } from './executor.js'
import { Fetcher } from './fetcher.js'
import { healthOf, type QueueUsage, usageOf, type WorkerHealth, type WorkerState } from './health.js'
import { identify, isAlive } from './host.js'
import { Isolation } from './isolation.js'
import { Lookout } from './lookout.js'
import { Presence } from './presence.js'
import { Questions } from './questions.js'
import type { QueueSlots } from './queue-slots.js'
import { type Ended, SettleBuffer } from './settle-buffer.js'
import { StuckWatch } from './stuck-watch.js'
import { infoOf } from './worker-info.js'
import { patienceOf, type StopOptions, termsOf, type WorkerOptions } from './worker-options.js'

/** Something that lives and dies with a worker, such as the maintenance duties. */
export interface Companion {
  start(): Promise<void>
  stop(): Promise<void>
  heard(notice: Notice): void
}

/** How long a worker that stops waits for its last outcomes to be written, and told of. */
const WRITE_MS = 10_000

/**
 * Runs handlers. It claims in batches, never more than its free slots; renews its registration, aborts what was taken
 * from it, and writes how attempts ended in batches.
 *
 * A worker that dies loses nothing: its jobs are taken back after {@link WorkerOptions.stale}. One that stops in order
 * charges nothing to anybody.
 */
export class Worker {
  readonly name: string
  readonly staleMs: number
  private readonly heartbeatMs: number
  private readonly slots: readonly QueueSlots[]
  private readonly info: WorkerInfo
  private readonly emitter = new WorkerEmitter()
  private readonly executor: Executor
  private readonly presence: Presence
  private readonly lookout: Lookout
  private readonly isolation: Isolation
  private readonly fetcher: Fetcher
  private readonly attempts: Attempts
  private readonly stuckWatch: StuckWatch
  private readonly buffer: SettleBuffer
  private readonly deaths: DeathTeller
  private readonly questions: Questions

  private state: WorkerState = 'new'
  private listening: Listening | undefined
  private stopped: Promise<void> | undefined
  /** stop() has given up waiting for handlers that do not end. */
  private isLeftOver = false

  constructor(
    private readonly store: Store,
    options: WorkerOptions,
    private readonly companions: readonly Companion[] = [],
  ) {
    const terms = termsOf(options)
    const identity = identify()
    this.name = options.name ?? `${identity.host}:${identity.pid}-${randomInt(36 ** 4).toString(36)}`
    this.heartbeatMs = terms.heartbeatMs
    this.staleMs = terms.staleMs
    this.slots = terms.slots
    this.info = infoOf(identity, this.name, terms, options.jobs)
    const report = (service: string, error: unknown) => this.report(service, error)
    const session = () => this.presence.session as WorkerSession
    const isRunning = () => this.state === 'running'

    this.executor = new Executor({
      handlers: terms.handlers,
      workerName: this.name,
      clockOffset: () => this.lookout.offsetMs,
    })
    this.presence = new Presence(store, this.info, {
      isStopped: () => this.state === 'stopped',
      held: () => [...this.attempts.jobs(), ...this.buffer.unwritten()],
      onRegistered: (registration) => this.emitter.emit('registered', { registration }),
      onEnded: () => this.cutOff(),
      report,
    })
    this.lookout = new Lookout(terms.pollMs, {
      session: () => this.presence.session,
      isLooking: () => this.state !== 'stopped' && this.state !== 'new',
      goesOn: () => this.state === 'running' || this.state === 'stopping',
      hasNotices: () => this.listening?.live === true,
      learn: (pulse, from) => this.learn(pulse, from),
      policyChanged: () => this.tellCompanions({ type: 'policy' }),
      onLooked: () => this.fetcher.fetch(),
      report,
    })
    this.isolation = new Isolation({
      queues: () => this.slots.filter(({ isPaused }) => !isPaused).map(({ queue }) => queue),
      isEmpty: () => !this.fetcher.isBusy && this.attempts.size === 0 && this.buffer.size === 0,
      isTaking: isRunning,
      begin: (job) => this.attempts.begin(job, this.slots.find(({ queue }) => queue === job.queue) as QueueSlots),
      resume: () => this.hunger(),
      report: (error) => this.report('isolation', error),
    })
    this.fetcher = new Fetcher(this.slots, this.isolation, {
      ...{ session, isRunning },
      unwritten: () => this.buffer.size,
      begin: (job, slots) => this.attempts.begin(job, slots),
      onFailed: (error) => {
        this.report('claim', error)
        void this.presence.beat()
      },
      onRest: () => {
        if (this.isQuiet()) this.emitter.emit('idle')
      },
    })
    this.attempts = new Attempts(this.executor, this.emitter, terms.callbackUrl, {
      session: () => this.presence.session,
      isRunning,
      write: (ended) => this.buffer.push(ended),
      onFree: (slots) => this.freed(slots),
      onStuck: () => {
        this.emitter.emit('stuck', this.stuckWatch.now())
        this.stuckWatch.check()
      },
      report,
    })
    this.stuckWatch = new StuckWatch(this.slots, (stuck) => {
      options.onStuck?.(stuck)
      void this.stop()
    })
    const writesDeathsAlone = options.jobs.some(({ definition }) => definition.onDeathTx)
    const deathTx = { session, storeTime: () => this.storeTime(), report }
    this.buffer = new SettleBuffer(
      session,
      (ended, settled) => this.onSettled(ended, settled),
      (error) => this.report('settle', error),
      () => this.fetcher.fetch(),
      writesDeathsAlone ? (ended) => deathTxOf(ended, this.executor, deathTx) : undefined,
    )
    this.deaths = new DeathTeller(options.onDeath ?? [], terms.onDeathMs, (error) => this.report('onDeath', error))
    this.questions = new Questions(this.executor, (error) => this.report('questions', error))
  }

  readonly on: WorkerEmitter['on'] = (...args) => this.emitter.on(...args)
  readonly once: WorkerEmitter['once'] = (...args) => this.emitter.once(...args)
  readonly off: WorkerEmitter['off'] = (...args) => this.emitter.off(...args)

  /** The token under which the store knows this process now; undefined before the start. */
  get registration(): string | undefined {
    return this.presence.session?.registration
  }

  /** How much of each queue's concurrency is in use, and how many jobs were claimed since the start. */
  get usage(): readonly QueueUsage[] {
    return usageOf(this.slots)
  }

  /** For probes: whether the process is of use, and whether it takes jobs now. */
  get health(): WorkerHealth {
    const { state, staleMs } = this
    return healthOf({ state, staleMs, silentMs: this.lookout.silentMs, isStuck: this.stuckWatch.isReported })
  }

  /** How many attempts are under way, those included whose handler goes on after its end was written. */
  get running(): number {
    return this.attempts.size
  }

  /** Registers and begins to take jobs. Resolves when it does. */
  async start(): Promise<void> {
    if (this.state !== 'new') {
      throw new SpillwayError('invalid_state', `cannot start this worker: it is ${this.state}; make a new one`)
    }
    this.state = 'starting'
    // What a predecessor died of is known before anything like it is taken.
    const ended = await this.store.endGone(this.info, isAlive)
    if (ended > 0) await this.quietly('rescue', () => this.store.rescue(this.staleMs, DEFAULT_POLICY.crashLimit))
    await this.presence.register()
    this.listening = await this.store.listen((notice) => this.heard(notice))
    if (this.state !== 'starting') return
    this.state = 'running'
    try {
      for (const companion of this.companions) await companion.start()
    } catch (error) {
      await this.stop({ grace: 0, abort: 0 })
      throw error
    }
    if (this.state !== 'running') return
    this.presence.beatEvery(this.heartbeatMs)
    await this.lookout.look()
  }

  /**
   * Takes no more jobs, lets the running ones end, then aborts them, and hands back uncharged what ended by that. What
   * still runs keeps its registration until its handler or the process ends, so it never runs twice side by side.
   * May be called twice, before {@link start}, and during it.
   */
  stop(options: StopOptions = {}): Promise<void> {
    this.stopped ??= this.shutDown(patienceOf(options))
    return this.stopped
  }

  /** Tells the death handlers of deaths that a duty of this process has written. For whoever assembles. */
  hearOfDeaths(deaths: readonly DeathEvent[]): void {
    for (const death of deaths) this.deaths.tell(death)
  }

  /** Resolves when nothing is running, everything is written, and a look found nothing to claim. */
  async idle(): Promise<void> {
    for (;;) {
      await this.quiet()
      await this.lookout.look()
      if (this.isQuiet()) return
    }
  }

  // -- What it hears --------------------------------------------------------------------------------------------------

  private heard(notice: Notice): void {
    this.tellCompanions(notice)
    switch (notice.type) {
      case 'ready': {
        const slots = this.slots.find(({ queue }) => queue === notice.queue)
        if (!slots || !this.presence.session) return
        this.presence.session.heard(notice)
        slots.hear()
        this.fetcher.fetch()
        return
      }
      case 'abort':
        if (notice.registration === this.registration) void this.lookout.look()
        return
      case 'policy':
      case 'resync':
        void this.lookout.look()
        return
      default:
    }
  }

  private tellCompanions(notice: Notice): void {
    for (const companion of this.companions) companion.heard(notice)
  }

  private async learn(pulse: Pulse, session: WorkerSession): Promise<void> {
    for (const { jobId, leaseId, reason } of pulse.aborts) {
      this.attempts.abort({ id: jobId, leaseId }, reason === 'cancelled' ? 'cancelled' : 'lost')
    }
    for (const slots of this.slots) {
      slots.isPaused = pulse.paused.includes(slots.queue)
      if (pulse.waiting.includes(slots.queue)) slots.hear()
    }
    if (pulse.hasQuestions) this.questions.answer(session)
    if (session.hasSuspects) await this.isolation.look(session)
  }

  /** Its registration was ended: what it held is another's by now. */
  private async cutOff(): Promise<void> {
    this.attempts.abortAll('lost')
    if (this.state !== 'running') return
    this.isolation.reset()
    await this.presence.register()
    this.hunger()
  }

  private hunger(): void {
    for (const slots of this.slots) slots.hear()
    this.fetcher.fetch()
  }

  // -- What becomes of attempts ---------------------------------------------------------------------------------------

  private freed(slots: QueueSlots): void {
    if (this.isLeftOver && this.attempts.size === 0) void this.buffer.empty(WRITE_MS).then(() => this.leave())
    this.isolation.step()
    if (slots.isHungry) this.fetcher.fetch()
  }

  private onSettled(ended: Ended, settled: Settled): void {
    this.emitter.tellSettled(ended, settled)
    const { job, end } = ended
    if (settled.outcome === 'lost' || end.event !== 'dead' || !this.deaths.isNeeded) return
    this.deaths.tell(deathOf(job, end, reachedBy(settled.state), this.storeTime()))
  }

  private storeTime(): Date {
    return new Date(Date.now() + this.lookout.offsetMs)
  }

  // -- Stopping -------------------------------------------------------------------------------------------------------

  private async shutDown({ graceMs, abortMs }: ReturnType<typeof patienceOf>): Promise<void> {
    const wasNew = this.state === 'new'
    this.state = 'stopping'
    if (wasNew) {
      this.state = 'stopped'
      return
    }
    await this.quietly('stop', () => this.presence.session?.stopping())
    this.questions.stop()
    await this.ending(graceMs)
    if (this.attempts.size > 0) {
      this.attempts.abortAll('shutdown')
      await this.ending(abortMs)
    }
    await this.buffer.empty(WRITE_MS)
    await this.deaths.ended(WRITE_MS)
    await this.questions.idle()
    this.lookout.stop()
    for (const companion of this.companions) await this.quietly('stop', () => companion.stop())
    await this.quietly('stop', () => this.listening?.close())
    if (this.attempts.size === 0) await this.leave()
    // Goes on saying it is alive for the handlers that do not end, without keeping the process for it.
    else {
      this.isLeftOver = true
      this.presence.letGoOfProcess()
    }
    this.emitter.emit('stopped')
  }

  /** The last word of a worker that holds nothing any more. */
  private async leave(): Promise<void> {
    this.presence.stopBeating()
    this.state = 'stopped'
    await this.quietly('stop', () => this.presence.session?.end())
    await this.quietly('stop', () => this.presence.session?.close())
  }

  /** Waits until no attempt is under way, at most `ms`. */
  private async ending(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (this.attempts.size > 0 || this.fetcher.isBusy) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) return
      await new Promise((resolve) => setTimeout(resolve, Math.min(10, leftMs)))
    }
  }

  private isQuiet(): boolean {
    return (
      !this.fetcher.isBusy &&
      !this.isolation.isBusy &&
      this.attempts.size === 0 &&
      this.buffer.size === 0 &&
      this.slots.every((slots) => !slots.wants)
    )
  }

  private async quiet(): Promise<void> {
    if (this.isQuiet()) return
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!this.isQuiet()) return
        this.emitter.off('idle', look)
        clearInterval(timer)
        resolve()
      }
      // The event tells at once; the timer covers what ends without a fetch behind it.
      const timer = setInterval(look, 20)
      this.emitter.on('idle', look)
    })
  }

  private async quietly(service: string, act: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.report(service, error)
    }
  }

  private report(service: string, error: unknown): void {
    this.emitter.emit('error', { service, error })
  }
}
