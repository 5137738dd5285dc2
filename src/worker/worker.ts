import { randomInt } from 'node:crypto'
import { callbackTimedOut } from '../job/callback.js'
import type { DeathEvent, DeathHandler } from '../job/death.js'
import { type JobHandler, kindsOf } from '../job/definition.js'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { jsonSchemaOf } from '../job/json-schema.js'
import type { Outcome } from '../job/outcome.js'
import { DEFAULT_POLICY } from '../job/policy.js'
import { servedVersions } from '../job/versions.js'
import type {
  ClaimedJob,
  JobEnd,
  Listening,
  Notice,
  Served,
  Settled,
  Store,
  WorkerInfo,
  WorkerSession,
} from '../store/store.js'
import { Attempt, type AttemptDoors } from './attempt.js'
import { checkCallbackUrl } from './callbacks.js'
import { DeathTeller, deathOf } from './death.js'
import { WorkerEmitter } from './events.js'
import { Executor } from './executor.js'
import { identify, isAlive } from './host.js'
import { Isolation } from './isolation.js'
import { Questions } from './questions.js'
import { QueueSlots } from './queue-slots.js'
import { type Ended, SettleBuffer } from './settle-buffer.js'

export interface WorkerOptions {
  /** Which queues to take jobs from, and how many at a time. Default concurrency: 10. */
  readonly queues: Readonly<Record<string, { readonly concurrency?: number }>>
  /** What it can run: `definition.handle(fn)`. It takes no other kinds. */
  readonly jobs: readonly JobHandler[]
  /** Called after a death was written, in this order. What they throw is reported and changes nothing. */
  readonly onDeath?: readonly DeathHandler[]
  /** How long one of them may take before the next is called. Default: 30 s. */
  readonly onDeathTimeout?: Duration
  /** Called when handlers that ignore their signal hold half the slots. The worker has stopped taking jobs. */
  readonly onStuck?: (stuck: { readonly slots: number; readonly of: number }) => void
  /** Default: host and pid. */
  readonly name?: string
  /** How often it says that it is alive. Default: 15 s. */
  readonly heartbeat?: Duration
  /** After this long in silence its jobs are taken back. The same for every worker of a store. Default: 45 s. */
  readonly stale?: Duration
  /** How often it looks for work that no notice told of. Default: 2 s with notices, 250 ms growing to 2 s without. */
  readonly poll?: Duration
  /** Where callbacks can be answered over HTTP: what `callback.url` begins with. Default: that of the Spillway. */
  readonly callbackUrl?: string | undefined
}

/** Something that lives and dies with a worker, such as the maintenance duties. */
export interface Companion {
  start(): Promise<void>
  stop(): Promise<void>
  heard(notice: Notice): void
}

/** One queue of a worker. */
export interface QueueUsage {
  readonly queue: string
  readonly concurrency: number
  /** Attempts under way. */
  readonly taken: number
  /** Of these, handlers that ignore their signal. */
  readonly stuck: number
  /** Jobs claimed since the start. */
  readonly claimed: number
  /** Nothing is claimed from it, because an operator has paused it. */
  readonly isPaused: boolean
}

export interface WorkerHealth {
  readonly state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped'
  /** Not only while it stops or the database is away: only a new process helps. */
  readonly isAlive: boolean
  /** It takes jobs. */
  readonly isReady: boolean
  /** Why it is not. */
  readonly why: string | null
}

export interface StopOptions {
  /** How long running handlers may take to end by themselves. Default: 25 s. */
  readonly grace?: Duration
  /** How long they may take once their signals are aborted. Default: 5 s. */
  readonly abort?: Duration
}

/**
 * Runs handlers. It claims in batches, never more than its free slots; renews its registration, aborts what was taken
 * from it, and writes how attempts ended in batches.
 *
 * A worker that dies loses nothing: its jobs are taken back after {@link WorkerOptions.stale}. One that stops in order
 * charges nothing to anybody.
 */
export class Worker {
  readonly name: string
  private readonly emitter = new WorkerEmitter()
  private readonly identity = identify()
  private readonly handlers = new Map<string, JobHandler>()
  private readonly slots: readonly QueueSlots[]
  private readonly attempts = new Map<string, Attempt>()
  private readonly executor: Executor
  private readonly questions: Questions
  private readonly schemas: NonNullable<WorkerInfo['schemas']>
  private readonly buffer: SettleBuffer
  private readonly doors: AttemptDoors
  private readonly deaths: DeathTeller
  private readonly heartbeatMs: number
  readonly staleMs: number
  private readonly pollMs: number | undefined

  private readonly isolation: Isolation

  private session: WorkerSession | undefined
  private listening: Listening | undefined
  private state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new'
  private stopped: Promise<void> | undefined
  private fetching = false
  private fetchAgain = false
  private beatTimer: NodeJS.Timeout | undefined
  private pulseTimer: NodeJS.Timeout | undefined
  private idlePolls = 0
  private pulsing = false
  private pulseAgain = false
  private policyVersion = ''
  private offsetMs = 0
  /** When the database last answered, on the monotonic clock. */
  private contactAt = 0
  private stuckReported = false
  /** stop() has given up waiting for handlers that do not end. */
  private isLeftOver = false

  constructor(
    private readonly store: Store,
    private readonly options: WorkerOptions,
    private readonly companions: readonly Companion[] = [],
  ) {
    const queues = Object.entries(options.queues)
    if (queues.length === 0) {
      throw new SpillwayError('invalid_option', 'a worker without queues takes nothing: name at least one in `queues`')
    }
    for (const handler of options.jobs) {
      for (const kind of kindsOf(handler.definition)) {
        if (this.handlers.has(kind)) {
          throw new SpillwayError('invalid_option', `two handlers for kind "${kind}": a worker has one for each`)
        }
        this.handlers.set(kind, handler)
      }
    }
    if (this.handlers.size === 0) {
      throw new SpillwayError('invalid_option', 'a worker without handlers runs nothing: name at least one in `jobs`')
    }
    this.slots = queues.map(([queue, { concurrency = 10 }]) => new QueueSlots(queue, concurrency))
    this.name = options.name ?? `${this.identity.host}:${this.identity.pid}-${randomInt(36 ** 4).toString(36)}`
    this.heartbeatMs = parseDuration(options.heartbeat ?? 15_000, 'heartbeat')
    this.staleMs = parseDuration(options.stale ?? 3 * this.heartbeatMs, 'stale')
    if (this.staleMs < 2 * this.heartbeatMs) {
      throw new SpillwayError(
        'invalid_option',
        `stale (${this.staleMs} ms) must be at least twice the heartbeat (${this.heartbeatMs} ms)`,
      )
    }
    this.pollMs = options.poll === undefined ? undefined : parseDuration(options.poll, 'poll')
    this.executor = new Executor({
      handlers: this.handlers,
      workerName: this.name,
      clockOffset: () => this.offsetMs,
    })
    this.doors = {
      keepProgress: (job, value) => this.keepProgress(job, value),
      openCallback: async (job, request) => this.session?.openCallback(job, request),
      callbackAnswer: async (job, callbackId) => this.session?.callbackAnswer(job, callbackId),
      callbackUrl: options.callbackUrl === undefined ? undefined : checkCallbackUrl(options.callbackUrl),
    }
    this.questions = new Questions(this.executor, (error) => this.report('questions', error))
    this.schemas = publishedBy(this.handlers)
    this.buffer = new SettleBuffer(
      () => this.session as WorkerSession,
      (ended, settled) => this.onSettled(ended, settled),
      (error) => this.report('settle', error),
      () => this.fetch(),
      options.jobs.some(({ definition }) => definition.onDeathTx) ? (ended) => this.aloneIn(ended) : undefined,
    )
    this.deaths = new DeathTeller(
      options.onDeath ?? [],
      parseDuration(options.onDeathTimeout ?? 30_000, 'onDeathTimeout'),
      (error) => this.report('onDeath', error),
    )
    this.isolation = new Isolation({
      queues: () => this.slots.filter(({ isPaused }) => !isPaused).map(({ queue }) => queue),
      isEmpty: () => !this.fetching && this.attempts.size === 0 && this.buffer.size === 0,
      isTaking: () => this.state === 'running',
      begin: (job) => this.begin(job, this.slots.find(({ queue }) => queue === job.queue) as QueueSlots),
      resume: () => this.hunger(),
      report: (error) => this.report('isolation', error),
    })
  }

  readonly on: WorkerEmitter['on'] = (...args) => this.emitter.on(...args)
  readonly once: WorkerEmitter['once'] = (...args) => this.emitter.once(...args)
  readonly off: WorkerEmitter['off'] = (...args) => this.emitter.off(...args)

  /** The token under which the store knows this process now; undefined before the start. */
  get registration(): string | undefined {
    return this.session?.registration
  }

  /** How much of each queue's concurrency is in use, and how many jobs were claimed since the start. */
  get usage(): readonly QueueUsage[] {
    return this.slots.map(({ queue, concurrency, taken, stuck, claimed, isPaused }) => ({
      ...{ queue, concurrency, taken, stuck, claimed, isPaused },
    }))
  }

  /** For probes: whether the process is of use, and whether it takes jobs now. */
  get health(): WorkerHealth {
    const silentMs = performance.now() - this.contactAt
    const why =
      this.state !== 'running'
        ? `the worker is ${this.state}`
        : silentMs > this.staleMs
          ? `the database was last reached ${Math.round(silentMs / 1_000)} s ago`
          : null
    return {
      ...{ state: this.state, why: this.stuckReported ? 'handlers that ignore their signal hold half the slots' : why },
      isAlive: this.state !== 'stopped' && !this.stuckReported,
      isReady: why === null && !this.stuckReported,
    }
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
    const ended = await this.store.endGone(this.info(), isAlive)
    if (ended > 0) await this.quietly('rescue', () => this.store.rescue(this.staleMs, DEFAULT_POLICY.crashLimit))
    await this.register()
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
    this.beatTimer = setInterval(() => void this.beat(), this.heartbeatMs)
    await this.pulse()
  }

  /**
   * Takes no more jobs, lets the running ones end, then aborts them, and hands back uncharged what ended by that. What
   * still runs keeps its registration until its handler or the process ends, so it never runs twice side by side.
   * May be called twice, before {@link start}, and during it.
   */
  stop(options: StopOptions = {}): Promise<void> {
    this.stopped ??= this.shutDown(
      parseStop(options.grace ?? 25_000, 'grace'),
      parseStop(options.abort ?? 5_000, 'abort'),
    )
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
      await this.pulse()
      if (this.isQuiet()) return
    }
  }

  // -- Taking jobs ----------------------------------------------------------------------------------------------------

  private fetch(): void {
    this.isolation.step()
    if (this.state !== 'running' || this.isolation.holds) return
    if (this.fetching) {
      this.fetchAgain = true
      return
    }
    this.fetching = true
    void this.fetchAll().finally(() => {
      this.fetching = false
      this.isolation.step()
      if (this.fetchAgain) this.fetch()
      else if (this.isQuiet()) this.emitter.emit('idle')
    })
  }

  private async fetchAll(): Promise<void> {
    do {
      this.fetchAgain = false
      for (const slots of this.slots) {
        // Finished attempts that are not written yet still hold leases: not more than twice the slots in all.
        while (this.isTaking && slots.wants && this.buffer.size < slots.concurrency + 500) {
          const { free } = slots
          slots.isFetching = true
          try {
            const session = this.session as WorkerSession
            const jobs = await session.claim(slots.queue, free, slots.resting(), (some) => {
              for (const job of some) this.begin(job, slots)
            })
            if (jobs.length < free) slots.isHungry = slots.wasHeard
            slots.wasHeard = false
          } catch (error) {
            // The claim's answer may be lost: the next beat hands back what it took.
            this.report('claim', error)
            slots.isHungry = false
            void this.beat()
          } finally {
            slots.isFetching = false
          }
        }
      }
    } while (this.fetchAgain && this.isTaking)
  }

  /** Not while a suspect is to run alone. */
  private get isTaking(): boolean {
    return this.state === 'running' && !this.isolation.holds
  }

  private begin(job: ClaimedJob, slots: QueueSlots): void {
    const attempt = new Attempt(job, this.doors)
    slots.taken++
    slots.claimed++
    this.attempts.set(keyOf(job), attempt)
    const handler = this.executor.handlerOf(job)
    if (this.state !== 'running' || !handler) {
      this.finish(attempt, slots, { event: 'handback' })
      return
    }
    if (job.bar !== undefined) {
      this.finish(attempt, slots, { event: job.bar === 'quarantined' ? 'quarantine' : 'handback' })
      return
    }
    if (job.deadlineInMs !== null && job.deadlineInMs <= 0) {
      this.finish(attempt, slots, this.executor.endOf(attempt, handler, { type: 'deadline' }))
      return
    }
    // Sweeps leave deaths of such a kind to its worker: the job may have waited in vain.
    if (handler.definition.onDeathTx && job.runLease > 1) void this.beginUnlessLate(attempt, slots, handler)
    else this.decode(attempt, slots, handler)
  }

  private async beginUnlessLate(attempt: Attempt, slots: QueueSlots, handler: JobHandler): Promise<void> {
    let late: string | undefined
    try {
      late = await this.session?.lateCallback(attempt.claimed)
    } catch (error) {
      // Its handler will meet it at `result()`.
      this.report('callbacks', error)
    }
    if (late === undefined) this.decode(attempt, slots, handler)
    else {
      const outcome = { type: 'callbackFailed', error: callbackTimedOut(late), callback: late, isLate: true } as const
      this.finish(attempt, slots, this.executor.endOf(attempt, handler, outcome))
    }
  }

  private decode(attempt: Attempt, slots: QueueSlots, handler: JobHandler): void {
    const job = attempt.claimed
    if (this.emitter.listenerCount('started') > 0) this.emitter.emit('started', { job })
    const decoded = this.executor.decode(job, handler)
    if (decoded instanceof Promise) void decoded.then((answer) => this.enter(attempt, slots, handler, answer))
    else this.enter(attempt, slots, handler, decoded)
  }

  private enter(
    attempt: Attempt,
    slots: QueueSlots,
    handler: JobHandler,
    decoded: Awaited<ReturnType<Executor['decode']>>,
  ): void {
    if (!decoded.ok) {
      this.finish(attempt, slots, this.executor.parked(attempt, decoded.path, decoded.message))
      return
    }
    const { claimed } = attempt
    const timeoutMs = claimed.timeoutMs ?? handler.definition.timeoutMs
    if (timeoutMs !== null) {
      attempt.after(timeoutMs, () => this.cut(attempt, slots, handler, 'timeout', timedOut(timeoutMs)))
    }
    if (claimed.deadlineInMs !== null) {
      attempt.after(claimed.deadlineInMs, () => this.cut(attempt, slots, handler, 'deadline', { type: 'deadline' }))
    }
    this.executor.run(attempt, handler, decoded.value, (outcome) => this.ended(attempt, slots, handler, outcome))
  }

  /** The handler has returned or thrown. */
  private ended(attempt: Attempt, slots: QueueSlots, handler: JobHandler, outcome: Outcome): void {
    if (outcome.type === 'rateLimited') slots.rest(attempt.claimed.kind, outcome.delayMs)
    if (attempt.isSettled) {
      this.free(attempt, slots)
      return
    }
    // Ended because the worker stops: not its fault, so it is handed back uncharged.
    const gaveWay = attempt.abortedBy === 'shutdown' && outcome.type === 'failed'
    if (attempt.abortedBy === 'lost' || attempt.abortedBy === 'cancelled') {
      attempt.isSettled = true
      this.emitter.emit('lost', { job: attempt.claimed, why: attempt.abortedBy })
      if (attempt.abortedBy === 'cancelled') {
        void this.quietly('cancel', () => this.session?.handlerEnded(attempt.claimed))
      }
      this.free(attempt, slots)
      return
    }
    const end: JobEnd = gaveWay ? { event: 'handback' } : this.executor.endOf(attempt, handler, outcome)
    this.finish(attempt, slots, end)
  }

  /** Settles an attempt whose handler still runs; its slot stays taken until the handler really ends. */
  private cut(
    attempt: Attempt,
    slots: QueueSlots,
    handler: JobHandler,
    why: 'timeout' | 'deadline',
    outcome: Outcome,
  ): void {
    if (attempt.isSettled) return
    attempt.isSettled = true
    attempt.clearTimers()
    const end = this.executor.endOf(attempt, handler, outcome)
    attempt.abort(why)
    this.buffer.push({ job: attempt.claimed, end, durationMs: Date.now() - attempt.startedAt })
    slots.stuck++
    this.checkStuck()
  }

  private finish(attempt: Attempt, slots: QueueSlots, end: JobEnd): void {
    attempt.isSettled = true
    this.buffer.push({ job: attempt.claimed, end, durationMs: Date.now() - attempt.startedAt })
    this.free(attempt, slots, false)
  }

  private free(attempt: Attempt, slots: QueueSlots, wasStuck = true): void {
    attempt.clearTimers()
    this.attempts.delete(keyOf(attempt.claimed))
    slots.taken--
    if (this.isLeftOver && this.attempts.size === 0) void this.buffer.empty(WRITE_MS).then(() => this.leave())
    if (wasStuck && slots.stuck > 0 && (attempt.abortedBy === 'timeout' || attempt.abortedBy === 'deadline'))
      slots.stuck--
    this.isolation.step()
    if (slots.isHungry) this.fetch()
  }

  private checkStuck(): void {
    const stuck = this.slots.reduce((sum, slots) => sum + slots.stuck, 0)
    const all = this.slots.reduce((sum, slots) => sum + slots.concurrency, 0)
    this.emitter.emit('stuck', { slots: stuck, of: all })
    if (this.stuckReported || stuck * 2 < all) return
    // One more turn, for handlers that end as soon as their signal aborts.
    setTimeout(() => {
      const still = this.slots.reduce((sum, slots) => sum + slots.stuck, 0)
      if (this.stuckReported || still * 2 < all) return
      this.stuckReported = true
      this.options.onStuck?.({ slots: still, of: all })
      void this.stop()
    }, 1_000).unref()
  }

  // -- What became of it ----------------------------------------------------------------------------------------------

  private onSettled({ job, end, durationMs }: Ended, { outcome, state }: Settled): void {
    if (outcome === 'lost') {
      if (end.event !== 'handback') this.emitter.emit('lost', { job, why: 'its lease was taken back before it ended' })
      return
    }
    switch (end.event) {
      case 'complete':
        if (this.emitter.listenerCount('completed') > 0) this.emitter.emit('completed', { job, durationMs })
        break
      case 'retry':
        if (this.emitter.listenerCount('retrying') > 0) {
          this.emitter.emit('retrying', { job, delayMs: end.delayMs, message: messageOf(end.entry) })
        }
        break
      case 'dead': {
        const reached = state === 'failed' || state === 'gone' ? state : 'archived'
        this.emitter.emit('died', { job, reason: end.reason, message: end.errorMessage, state: reached })
        if (this.deaths.isNeeded) this.deaths.tell(deathOf(job, end, reached, this.storeTime()))
        break
      }
      case 'snooze':
        this.emitter.emit('snoozed', { job, delayMs: end.delayMs })
        break
      case 'wait':
        if (state === 'waiting') this.emitter.emit('waiting', { job, callback: end.name })
        break
      case 'undecodable':
        this.emitter.emit('parked', { job, reason: end.reason })
        break
      case 'handback':
        this.emitter.emit('handedBack', { job })
        break
      case 'quarantine':
        if (state === 'quarantined') this.emitter.emit('parked', { job, reason: 'its fingerprint is quarantined' })
        break
      case 'revoke':
        this.emitter.emit('revoked', { job })
        break
    }
  }

  /** How a death is written with which code of the user goes along; undefined for what goes with others. */
  private aloneIn({ job, end }: Ended): (() => Promise<Settled>) | undefined {
    const onDeathTx = this.handlers.get(job.kind)?.definition.onDeathTx
    if (end.event !== 'dead' || !onDeathTx) return undefined
    return () =>
      (this.session as WorkerSession).settleDeath(
        { job, end },
        {
          patienceMs: DEATH_TX_MS,
          inTransaction: async (tx, state) => {
            await onDeathTx(tx, deathOf(job, end, state, this.storeTime()))
          },
          failed: (error) => {
            this.report('onDeathTx', error)
            return this.executor.deathTxFailed(job, error)
          },
        },
      )
  }

  private storeTime(): Date {
    return new Date(Date.now() + this.offsetMs)
  }

  private async keepProgress(job: ClaimedJob, value: unknown): Promise<void> {
    const kept = await this.session?.progress(job, JSON.stringify(value) ?? 'null')
    if (kept === false) this.attempts.get(keyOf(job))?.abort('lost')
  }

  // -- Staying known --------------------------------------------------------------------------------------------------

  private info() {
    const serves: Served[] = [...this.handlers].flatMap(([kind, { definition }]) =>
      servedVersions(definition).map((version) => ({ kind, version })),
    )
    return {
      ...this.identity,
      name: this.name,
      queues: this.slots.map(({ queue }) => queue),
      serves,
      deathTxKinds: this.options.jobs.flatMap(({ definition }) => (definition.onDeathTx ? kindsOf(definition) : [])),
      concurrency: this.slots.reduce((sum, { concurrency }) => sum + concurrency, 0),
      version: process.version,
      schemas: this.schemas,
    }
  }

  private async register(): Promise<void> {
    const before = this.session
    this.session = await this.store.register(this.info())
    await before?.close()
    this.emitter.emit('registered', { registration: this.session.registration })
  }

  private beating = false

  private async beat(): Promise<void> {
    const { session } = this
    if (!session || this.beating || this.state === 'stopped') return
    this.beating = true
    try {
      const held = [...this.attempts.values()].map(({ claimed }) => claimed)
      if (await session.beat([...held, ...this.unwritten()])) return
      // The registration was ended: what it held is another's by now.
      for (const attempt of this.attempts.values()) attempt.abort('lost')
      if (this.state === 'running') {
        this.isolation.reset()
        await this.register()
        this.hunger()
      }
      // Cut off, not dead: nobody is to be charged for that.
      await this.store.survived(session.registration)
    } catch (error) {
      this.report('heartbeat', error)
    } finally {
      this.beating = false
    }
  }

  private unwritten(): ClaimedJob[] {
    return this.buffer.unwritten()
  }

  private heard(notice: Notice): void {
    for (const companion of this.companions) companion.heard(notice)
    switch (notice.type) {
      case 'ready': {
        const slots = this.slots.find(({ queue }) => queue === notice.queue)
        if (!slots || !this.session) return
        this.session.heard(notice)
        slots.hear()
        this.fetch()
        return
      }
      case 'abort':
        if (notice.registration === this.registration) void this.pulse()
        return
      case 'policy':
      case 'resync':
        void this.pulse()
        return
      default:
    }
  }

  private async pulse(): Promise<void> {
    const { session } = this
    if (!session || this.state === 'stopped' || this.state === 'new') return
    if (this.pulsing) {
      this.pulseAgain = true
      return
    }
    this.pulsing = true
    clearTimeout(this.pulseTimer)
    try {
      do {
        this.pulseAgain = false
        const pulse = await session.pulse()
        this.offsetMs = pulse.storeTime - Date.now()
        this.contactAt = performance.now()
        if (this.policyVersion !== pulse.policyVersion) this.policyChanged(pulse.policyVersion)
        for (const { jobId, leaseId, reason } of pulse.aborts) {
          this.attempts.get(`${jobId} ${leaseId}`)?.abort(reason === 'cancelled' ? 'cancelled' : 'lost')
        }
        for (const slots of this.slots) {
          slots.isPaused = pulse.paused.includes(slots.queue)
          if (pulse.waiting.includes(slots.queue)) slots.hear()
        }
        if (pulse.hasQuestions) this.questions.answer(session)
        if (session.hasSuspects) await this.isolation.look(session)
        this.idlePolls = pulse.waiting.length > 0 ? 0 : this.idlePolls + 1
      } while (this.pulseAgain)
    } catch (error) {
      this.report('poll', error)
    } finally {
      this.pulsing = false
      // Not while stopping: aborts are all that is left to hear, and stop() sends its own.
      if (this.state === 'running' || this.state === 'stopping') {
        this.pulseTimer = setTimeout(() => void this.pulse(), this.nextPollMs())
      }
    }
    this.fetch()
  }

  /** Where no notices come, the poll tells. */
  private policyChanged(version: string): void {
    if (this.policyVersion !== '') for (const companion of this.companions) companion.heard({ type: 'policy' })
    this.policyVersion = version
  }

  private nextPollMs(): number {
    if (this.pollMs !== undefined) return this.pollMs
    if (this.listening?.live) return 2_000
    return Math.min(2_000, 250 * 2 ** Math.max(0, this.idlePolls - 4))
  }

  private hunger(): void {
    for (const slots of this.slots) slots.hear()
    this.fetch()
  }

  // -- Stopping -------------------------------------------------------------------------------------------------------

  private async shutDown(graceMs: number, abortMs: number): Promise<void> {
    const wasNew = this.state === 'new'
    this.state = 'stopping'
    if (wasNew) {
      this.state = 'stopped'
      return
    }
    await this.quietly('stop', () => this.session?.stopping())
    this.questions.stop()
    await this.ending(graceMs)
    if (this.attempts.size > 0) {
      for (const attempt of this.attempts.values()) attempt.abort('shutdown')
      await this.ending(abortMs)
    }
    await this.buffer.empty(WRITE_MS)
    await this.deaths.ended(WRITE_MS)
    await this.questions.idle()
    clearTimeout(this.pulseTimer)
    for (const companion of this.companions) await this.quietly('stop', () => companion.stop())
    await this.quietly('stop', () => this.listening?.close())
    if (this.attempts.size === 0) await this.leave()
    // Goes on saying it is alive for the handlers that do not end, without keeping the process for it.
    else {
      this.isLeftOver = true
      this.beatTimer?.unref()
    }
    this.emitter.emit('stopped')
  }

  /** The last word of a worker that holds nothing any more. */
  private async leave(): Promise<void> {
    clearInterval(this.beatTimer)
    this.state = 'stopped'
    await this.quietly('stop', () => this.session?.end())
    await this.quietly('stop', () => this.session?.close())
  }

  /** Waits until no attempt is under way, at most `ms`. */
  private async ending(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (this.attempts.size > 0 || this.fetching) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) return
      await new Promise((resolve) => setTimeout(resolve, Math.min(10, leftMs)))
    }
  }

  private isQuiet(): boolean {
    return (
      !this.fetching &&
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

/** How long a worker that stops waits for its last outcomes to be written, and told of. */
const WRITE_MS = 10_000
/** How long the code of the user may take in the transaction that writes a death. */
const DEATH_TX_MS = 5_000

/** Read once: a schema may take long to be written down. */
function publishedBy(handlers: ReadonlyMap<string, JobHandler>): NonNullable<WorkerInfo['schemas']> {
  const entries = [...handlers].flatMap(([kind, { definition }]) => {
    const schema = jsonSchemaOf(definition.schema)
    return schema === null ? [] : [[kind, { version: definition.version, schema }] as const]
  })
  return Object.fromEntries(entries)
}

function keyOf(job: ClaimedJob): string {
  return `${job.id} ${job.leaseId}`
}

function timedOut(timeoutMs: number): Outcome {
  const error = new Error(`the attempt took longer than its timeout of ${timeoutMs} ms`)
  error.name = 'AttemptTimeout'
  return { type: 'failed', error, entry: 'timeout' }
}

function messageOf(entry: string | null): string {
  return entry === null ? '' : String((JSON.parse(entry) as { message?: unknown }).message ?? '')
}

function parseStop(value: Duration, name: string): number {
  return value === 0 ? 0 : parseDuration(value, name)
}
