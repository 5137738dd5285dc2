import type { ClaimedJob, WorkerSession } from '../store/store.js'

/** What an isolation asks of its worker. */
export interface IsolationHost {
  /** The queues that may be claimed from now. */
  queues(): readonly string[]
  /** Runs nothing, claims nothing, and has written how everything ended. */
  isEmpty(): boolean
  /** Whether it still takes jobs. */
  isTaking(): boolean
  begin(job: ClaimedJob): void
  /** Other jobs may be claimed again. */
  resume(): void
  report(error: unknown): void
}

/** So long a suspect runs alone: a payload that kills its worker mostly does so at once. */
const ALONE_MS = 10_000
/** Suspects that end fast follow each other for so long before other jobs have their turn again. */
const SLICE_MS = 1_000
/** Then others, where there are any, have as long as that took, but at least and at most so long. */
const REST_MS = 50
const LONGEST_REST_MS = 1_000
/** When a worker looks again whether another one has left the turn. */
const BUSY_MS = 250
/** How long a worker waits to become empty before it goes on with other jobs; then twice as long, up to an hour. */
const PATIENCE_MS = 30_000
const LONGEST_PATIENCE_MS = 3_600_000

/**
 * Runs jobs whose fingerprint has crashed by themselves, so that the next crash says whose fault it is and hits nobody
 * else: takes the turn of a queue, claims nothing until the worker is empty, then claims one suspect. Others may follow
 * when it has lived for 10 s; not before it ends, where one more crash would convict it.
 */
export class Isolation {
  private phase: 'off' | 'asking' | 'draining' | 'claiming' | 'alone' = 'off'
  private queue = ''
  private session: WorkerSession | undefined
  private beganAt = 0
  private sliceEndsAt = 0
  private restsUntil = 0
  private patienceMs = PATIENCE_MS
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly host: IsolationHost) {}

  /** Whether other jobs must not be claimed now. */
  get holds(): boolean {
    return this.phase === 'draining' || this.phase === 'claiming' || this.phase === 'alone'
  }

  get isBusy(): boolean {
    return this.phase !== 'off'
  }

  /** Begins where a suspect waits and no other worker is at it. */
  async look(session: WorkerSession): Promise<void> {
    if (this.isBusy || !session.hasSuspects || !this.host.isTaking() || performance.now() < this.restsUntil) return
    this.phase = 'asking'
    clearTimeout(this.timer)
    let isBusy = false
    try {
      for (const queue of this.host.queues()) {
        const turn = await session.takeTurn(queue)
        if (turn === 'ours') {
          this.drain(session, queue)
          return
        }
        isBusy ||= turn === 'theirs'
      }
    } catch (error) {
      this.host.report(error)
    }
    // Stopped, or registered anew, meanwhile.
    if (this.phase !== 'asking') return
    this.phase = 'off'
    if (isBusy) this.lookIn(session, BUSY_MS)
  }

  /** Called whenever something has ended. */
  step(): void {
    if (!this.holds || this.phase === 'claiming' || !this.host.isEmpty()) return
    if (!this.host.isTaking() || (this.phase === 'alone' && performance.now() > this.sliceEndsAt)) this.leave()
    else void this.claim()
  }

  /** Forgets what it was at: the registration has ended, and its turn with it. */
  reset(): void {
    clearTimeout(this.timer)
    this.phase = 'off'
  }

  private drain(session: WorkerSession, queue: string): void {
    this.session = session
    this.queue = queue
    this.beganAt = performance.now()
    if (!this.host.isTaking()) {
      this.leave()
      return
    }
    this.phase = 'draining'
    this.sliceEndsAt = 0
    this.timer = setTimeout(() => {
      // Something here runs for long: another worker may have more luck meanwhile.
      this.restsUntil = performance.now() + this.patienceMs
      this.patienceMs = Math.min(this.patienceMs * 2, LONGEST_PATIENCE_MS)
      this.leave(this.patienceMs)
    }, this.patienceMs).unref()
    this.step()
  }

  private async claim(): Promise<void> {
    const { session, queue } = this
    if (!session) return
    clearTimeout(this.timer)
    this.patienceMs = PATIENCE_MS
    if (this.phase === 'draining') this.sliceEndsAt = performance.now() + SLICE_MS
    this.phase = 'claiming'
    try {
      const job = await session.claimSuspect(queue)
      // Its registration has ended meanwhile, or it stops: what was claimed is handed back by that.
      if (this.phase !== 'claiming') return
      if (!job) {
        this.leave()
        return
      }
      this.phase = 'alone'
      if (!session.isAloneToTheEnd(job)) this.timer = setTimeout(() => this.leave(), ALONE_MS).unref()
      this.host.begin(job)
    } catch (error) {
      this.host.report(error)
      this.leave()
    }
  }

  private leave(restMs = clamp(performance.now() - this.beganAt, REST_MS, LONGEST_REST_MS)): void {
    const { session, queue } = this
    clearTimeout(this.timer)
    this.phase = 'off'
    void session?.leaveTurn(queue).catch((error: unknown) => this.host.report(error))
    this.host.resume()
    if (!session || !this.host.isTaking()) return
    // Nobody has to wait for others that are not there.
    this.timer = setTimeout(() => {
      if (this.host.isEmpty()) void this.look(session)
      else this.lookIn(session, restMs - REST_MS)
    }, REST_MS).unref()
  }

  private lookIn(session: WorkerSession, ms: number): void {
    this.timer = setTimeout(() => void this.look(session), ms).unref()
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
