export interface DutyOptions {
  readonly name: string
  /**
   * One bounded pass. Resolves with the ms until the next one, `Infinity` for not before it is woken; a pass that left
   * work behind says 0.
   */
  readonly pass: () => Promise<number>
  /** Whether this process may run it now; while it may not, the duty sleeps until it is woken. */
  readonly mayRun: () => boolean
  /** Least ms between two passes, however often it is woken. */
  readonly restMs: number
  /** Told of each pass; what it throws is ignored. */
  readonly onPass: (error: Error | null) => void | Promise<void>
}

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 30_000
/** setTimeout takes no longer waits. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/**
 * Work that is done again and again, on a schedule of its own: passes never overlap, and one that fails is tried again
 * after 500 ms, doubling to 30 s. Nothing it does or throws touches another duty.
 */
export class Duty {
  readonly name: string
  private timer: NodeJS.Timeout | undefined
  /** When the timer fires, on the monotonic clock. */
  private plannedAt = Number.POSITIVE_INFINITY
  private notBefore = 0
  private failures = 0
  private running: Promise<void> | undefined
  private beganAt = 0
  private isStarted = false
  private isStopped = false

  constructor(private readonly options: DutyOptions) {
    this.name = options.name
  }

  /** Begins with a pass at once. A stopped duty stays stopped. */
  start(): void {
    if (this.isStarted || this.isStopped) return
    this.isStarted = true
    this.plan(0)
  }

  /** Sees to it that a pass begins within `inMs`; one that is planned earlier stays. */
  wake(inMs = 0): void {
    if (this.isStarted) this.plan(inMs)
  }

  /** Ms until the next planned pass; `Infinity` when none is. */
  get nextInMs(): number {
    return this.plannedAt - performance.now()
  }

  /** For how many ms the pass under way has been running; undefined when none is. */
  get underWayMs(): number | undefined {
    return this.running && performance.now() - this.beganAt
  }

  /** Does one pass now, whoever leads, after one that is under way. Rejects with what it threw. */
  async runOnce(): Promise<void> {
    await this.running
    let thrown: Error | null = null
    await this.run((error) => {
      thrown = error
    })
    if (thrown) throw thrown
  }

  /** Plans nothing more, and resolves when the pass under way has ended. May be called twice and before the start. */
  async stop(): Promise<void> {
    this.isStopped = true
    clearTimeout(this.timer)
    await this.running
  }

  private plan(inMs: number): void {
    if (this.isStopped) return
    const at = Math.max(performance.now() + Math.min(inMs, LONGEST_WAIT_MS), this.notBefore)
    if (at >= this.plannedAt) return
    clearTimeout(this.timer)
    this.plannedAt = at
    this.timer = setTimeout(() => this.begin(), at - performance.now())
    this.timer.unref()
  }

  private begin(): void {
    this.plannedAt = Number.POSITIVE_INFINITY
    // Woken during a pass, which may have looked too early: once more after it, and after its rest.
    if (this.running) void this.running.then(() => this.plan(0))
    else if (performance.now() < this.notBefore) this.plan(0)
    else if (this.options.mayRun()) void this.run()
  }

  private run(onEnd?: (error: Error | null) => void): Promise<void> {
    this.beganAt = performance.now()
    const run = this.passOnce(onEnd).finally(() => {
      if (this.running === run) this.running = undefined
    })
    this.running = run
    return run
  }

  private async passOnce(onEnd?: (error: Error | null) => void): Promise<void> {
    let nextInMs: number
    let error: Error | null = null
    try {
      nextInMs = await this.options.pass()
      this.failures = 0
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown))
      nextInMs = Math.min(FIRST_RETRY_MS * 2 ** this.failures++, LONGEST_RETRY_MS)
    }
    this.notBefore = performance.now() + this.options.restMs
    if (this.isStarted && nextInMs < Number.POSITIVE_INFINITY) this.plan(nextInMs)
    onEnd?.(error)
    await Promise.resolve(this.options.onPass(error)).catch(() => undefined)
  }
}
