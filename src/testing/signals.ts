import { type Duration, parseDuration } from '../job/duration.js'

export interface WaitOptions {
  /** How long at most. Default: 10 s. */
  readonly within?: Duration
  /** What is waited for, as the message should call it. */
  readonly what?: string
}

export interface UntilOptions extends WaitOptions {
  /** Pause between two looks, where looking costs something. Default: 5 ms, growing to 20 ms. */
  readonly every?: Duration
}

/** A moment that a handler or a callback announces and a test waits for. */
export interface Signal<T = void> {
  /** Announces it once more. */
  fire(value: T): void
  /**
   * The first announcement nobody has waited for yet: one that came before is not missed.
   *
   * Rejects when none comes in time.
   */
  next(options?: WaitOptions): Promise<T>
  /** How often it was fired. */
  readonly count: number
}

/** What is left of an answer once it is known to be something. */
export type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 20

/**
 * Waits until `look` answers something true, and gives that answer. Looks once more at the end.
 *
 * Rejects at the deadline, naming what was last seen, or with the last error `look` threw.
 *
 * @example
 * await until(async () => (await store.getJob(id))?.state === 'archived', { within: '5s', what: 'the death' })
 */
export async function until<T>(look: () => T | Promise<T>, options: UntilOptions = {}): Promise<Truthy<T>> {
  const withinMs = parseDuration(options.within ?? 10_000, 'a wait')
  const end = performance.now() + withinMs
  const every = options.every === undefined ? undefined : parseDuration(options.every, 'a pause between looks')
  let pauseMs = every ?? FIRST_PAUSE_MS
  for (;;) {
    const isLast = performance.now() >= end
    let seen: unknown
    let thrown: unknown
    try {
      const answer = await look()
      if (answer) return answer as Truthy<T>
      seen = answer
    } catch (error) {
      thrown = error
    }
    if (isLast) {
      throw new Error(
        `${options.what ?? 'what was waited for'} did not come within ${withinMs} ms; last seen: ${shown(seen)}`,
        {
          cause: thrown,
        },
      )
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    pauseMs = every ?? Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)
  }
}

/**
 * Makes a {@link Signal}: no polling and no sleeping, the waiting side goes on at the moment of the call.
 *
 * @param name - What it announces, as messages should call it.
 *
 * @example
 * const started = signal<string>()
 * const job = definition.handle(async (_, ctx) => started.fire(ctx.job.id))
 * const id = await started.next({ within: '5s' })
 */
export function signal<T = void>(name = 'the signal'): Signal<T> {
  const unseen: T[] = []
  const waiting: ((value: T) => void)[] = []
  let count = 0

  return {
    get count() {
      return count
    },
    fire(value) {
      count += 1
      const taker = waiting.shift()
      if (taker) taker(value)
      else unseen.push(value)
    },
    next({ within = 10_000, what = name } = {}) {
      if (unseen.length > 0) return Promise.resolve(unseen.shift() as T)
      const withinMs = parseDuration(within, 'a wait')
      return new Promise<T>((resolve, reject) => {
        const take = (value: T) => {
          clearTimeout(timer)
          resolve(value)
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1)
          reject(new Error(`${what} did not come within ${withinMs} ms; it was fired ${count} times before`))
        }, withinMs)
        waiting.push(take)
      })
    },
  }
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
