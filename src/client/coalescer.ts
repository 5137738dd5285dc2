import { type ErrorCode, isSpillwayError, SpillwayError } from '../job/errors.js'
import type { Enqueued, NewJob, Store } from '../store/store.js'

/** Rows of one statement at most. */
const MAX_ROWS = 500
/** UTF-8 bytes of payload and metadata of one statement at most; a larger job goes alone. */
const MAX_BYTES = 4 * 1024 * 1024
/** Statements on their way at once: while one waits for the disk the next is already being read. */
const MAX_IN_FLIGHT = 2
/**
 * Callers that must wait before a second statement goes out beside the first. Fewer are better off in the next one: two
 * small commits wait for the disk one after the other.
 */
const WORTH_A_SECOND = 64

/** These say something about the whole store, so asking again with fewer rows would say the same. */
const NOT_ABOUT_A_ROW: ReadonlySet<string> = new Set<ErrorCode | 'store_forbidden'>([
  'store_unavailable',
  'store_forbidden',
  'schema_missing',
  'schema_newer',
])

interface Caller {
  readonly job: NewJob
  readonly bytes: number
  readonly resolve: (enqueued: Enqueued) => void
  readonly reject: (error: unknown) => void
}

/**
 * Turns many single enqueues of one process into few statements.
 *
 * The first call goes out at once, with everything else of the same tick. While statements are on their way, later
 * calls gather and go out together, in the order of the calls. Every promise settles after the commit of its own row:
 * a row the store refuses rejects alone, because its batch is halved until it stands by itself.
 */
export class Coalescer {
  private waiting: Caller[] = []
  /** Callers before this index of {@link waiting} have been sent; shifting an array costs its length. */
  private sent = 0
  private inFlight = 0
  private isPumpDue = false
  private isClosed = false
  private whenIdle: (() => void)[] = []

  constructor(private readonly store: Pick<Store, 'enqueue'>) {}

  /**
   * Stores one job together with whatever else is being enqueued.
   *
   * @param bytes - UTF-8 bytes of its payload and metadata.
   * @returns after the commit. @throws what the store says about this job, or about the whole statement.
   */
  enqueue(job: NewJob, bytes: number): Promise<Enqueued> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) {
        reject(new SpillwayError('store_unavailable', 'cannot enqueue: this client is closed; make a new one'))
        return
      }
      this.waiting.push({ job, bytes, resolve, reject })
      if (this.isPumpDue || !this.mayGo()) return
      this.isPumpDue = true
      queueMicrotask(this.pump)
    })
  }

  /** Resolves when everything enqueued so far has settled. */
  flush(): Promise<void> {
    if (this.isIdle()) return Promise.resolve()
    return new Promise((resolve) => this.whenIdle.push(resolve))
  }

  /** Refuses further jobs and waits for those it has. May be called twice. */
  close(): Promise<void> {
    this.isClosed = true
    return this.flush()
  }

  private readonly pump = (): void => {
    this.isPumpDue = false
    while (this.sent < this.waiting.length && this.mayGo()) {
      this.inFlight++
      // What the store throws has been handed to the callers, so this cannot reject.
      void this.send(this.take()).then(this.landed)
    }
  }

  private mayGo(): boolean {
    if (this.inFlight === 0) return true
    return this.inFlight < MAX_IN_FLIGHT && this.waiting.length - this.sent >= WORTH_A_SECOND
  }

  private readonly landed = (): void => {
    this.inFlight--
    this.pump()
    if (!this.isIdle()) return
    const waiters = this.whenIdle
    this.whenIdle = []
    for (const resolve of waiters) resolve()
  }

  private isIdle(): boolean {
    return this.inFlight === 0 && this.sent === this.waiting.length
  }

  /** The next batch, in the order of the calls. */
  private take(): Caller[] {
    let bytes = 0
    let end = this.sent
    while (end < this.waiting.length && end - this.sent < MAX_ROWS) {
      bytes += this.waiting[end]!.bytes
      if (bytes > MAX_BYTES && end > this.sent) break
      end++
    }
    const batch = this.waiting.slice(this.sent, end)
    this.sent = end
    if (end === this.waiting.length) {
      this.waiting = []
      this.sent = 0
    } else if (end > 10 * MAX_ROWS) {
      this.waiting = this.waiting.slice(end)
      this.sent = 0
    }
    return batch
  }

  /** Sends a batch and settles its callers. Never rejects. */
  private async send(batch: readonly Caller[]): Promise<void> {
    let enqueued: readonly Enqueued[]
    try {
      enqueued = await this.store.enqueue(batch.map(jobOf))
    } catch (error) {
      if (batch.length > 1 && isAboutARow(error)) return this.sendHalves(batch)
      for (const caller of batch) caller.reject(error)
      return
    }
    for (let i = 0; i < batch.length; i++) batch[i]!.resolve(enqueued[i]!)
  }

  /** One after the other, so that the good rows keep their order. */
  private async sendHalves(batch: readonly Caller[]): Promise<void> {
    const middle = batch.length >> 1
    await this.send(batch.slice(0, middle))
    await this.send(batch.slice(middle))
  }
}

function jobOf(caller: Caller): NewJob {
  return caller.job
}

function isAboutARow(error: unknown): boolean {
  return !(isSpillwayError(error) && NOT_ABOUT_A_ROW.has(error.code))
}
