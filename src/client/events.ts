import { type Duration, parseDuration } from '../job/duration.js'
import { isSpillwayError, SpillwayError } from '../job/errors.js'
import { EVENT_TYPES, type EventType, isEventType } from '../job/event-types.js'
import { checkText } from '../job/payload.js'
import type { EventFilter, LoggedEvent, Page, PageRequest, Store } from '../store/store.js'
import { type ActOptions, actOf, isJobId } from './act.js'
import { Listing } from './listing.js'
import { Wake } from './wake.js'

export interface EventOptions {
  /** Only behind this position of the log: that of the last event seen. */
  readonly after?: string | undefined
  /** Default: every type. */
  readonly types?: readonly EventType[] | undefined
  readonly queue?: string | undefined
  readonly kind?: string | undefined
}

export interface ListEventsOptions extends EventOptions {
  /** Events of one page, 1 to 1,000. Default: 50. */
  readonly limit?: number | undefined
}

export interface SubscribeOptions extends EventOptions {
  /** Ends the iteration when it aborts. */
  readonly signal?: AbortSignal | undefined
}

const SEQUENCE = 1_000
const PAGE = 500
/** How often a subscriber looks that no notice woke: some deaths, such as those in SQL, tell nobody. */
const LISTENING_MS = 1_000
const POLLING_MS = 500
const AWAY_MS = 1_000

/**
 * What happened to jobs, in one order that never changes: an event for each death by any way in, and for each job that
 * was held. Kept for 7 days. Events carry ids, reason, cause and a masked message, never a payload.
 */
export class Events {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
  ) {}

  /**
   * Events in the order of the log, the oldest that is kept first, or those behind `after`. `await` gives one page,
   * `for await` goes on to the end of the log and ends there.
   *
   * @throws `invalid_option` for a position that is none, or a type there is not.
   *
   * @example
   * const { items } = await spillway.events.list({ after: lastSeen, types: ['died'], queue: 'billing' })
   */
  list(options: ListEventsOptions = {}): Listing<LoggedEvent> {
    const filter = filterOf(options)
    const after = options.after === undefined ? undefined : checkPosition(options.after)
    return new Listing((page) => this.page(filter, page), {
      ...(after === undefined ? {} : { cursor: after }),
      ...(options.limit === undefined ? {} : { limit: options.limit }),
    })
  }

  /**
   * Every event behind `after`, then each new one as it comes, until `signal` aborts or the loop is left. Without `after`
   * it begins with what happens from now on.
   *
   * At least once: keep the `position` of the last event that was dealt with and begin again after it. A position once
   * passed never hides an event, however late its transaction commits. While the database is away it waits and goes on.
   * It holds one connection, to hear of new events.
   *
   * @throws `invalid_option` as {@link list}.
   *
   * @example
   * for await (const event of spillway.events.subscribe({ after: await readCursor(), types: ['died'] })) {
   *   await page(`${event.kind} in ${event.queue}: ${event.reason} ${event.message ?? ''}`)
   *   await writeCursor(event.position)
   * }
   */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<LoggedEvent, void, undefined> {
    const filter = filterOf(options)
    const after = options.after === undefined ? undefined : checkPosition(options.after)
    return this.follow(filter, after, options.signal)
  }

  /** The newest position, to subscribe behind. */
  async position(): Promise<string> {
    await this.sequenceAll()
    return (await this.store.eventHead()).position
  }

  /** How long events are kept, in ms. */
  async retention(): Promise<number> {
    return (await this.store.eventHead()).retentionMs
  }

  /**
   * Sets how long events are kept: at least a minute. Webhooks and subscribers that are further behind miss what went.
   *
   * @returns the ms they are kept from now on. @throws `invalid_option`
   */
  async setRetention(retention: Duration, options: ActOptions = {}): Promise<number> {
    const ms = parseDuration(retention, 'the retention of events')
    if (ms < 60_000) {
      throw new SpillwayError('invalid_option', `cannot keep events for ${ms} ms: at least a minute is accepted`)
    }
    return this.store.setEventRetention(ms, actOf(this.actor, options))
  }

  private async page(filter: EventFilter, { limit, cursor = '0' }: PageRequest): Promise<Page<LoggedEvent>> {
    await this.store.sequenceEvents(SEQUENCE)
    const items: LoggedEvent[] = []
    let position = checkPosition(cursor)
    for (;;) {
      const batch = await this.store.readEvents(filter, position, limit - items.length)
      items.push(...batch.events)
      position = batch.position
      if (items.length === limit) return { items, cursor: position }
      if (batch.isEnd) return { items, cursor: null }
    }
  }

  private async *follow(
    filter: EventFilter,
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LoggedEvent, void, undefined> {
    const wake = new Wake()
    let position = after
    const listening = await this.store.listen(({ type }) => {
      if (type === 'events' || type === 'outbox' || type === 'resync') wake.ring()
    })
    const onAbort = () => wake.ring()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      while (!signal?.aborted) {
        const batch = await this.look(filter, position)
        if (batch === undefined) {
          await wake.next(AWAY_MS)
          continue
        }
        position = batch.position
        for (const event of batch.events) {
          if (signal?.aborted) return
          yield event
        }
        if (batch.isEnd && !signal?.aborted) await wake.next(listening.live ? LISTENING_MS : POLLING_MS)
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      await listening.close()
    }
  }

  /** Undefined while the database is away. */
  private async look(filter: EventFilter, after: string | undefined) {
    try {
      if (after === undefined) return { events: [], position: await this.position(), isEnd: true }
      const moved = await this.store.sequenceEvents(SEQUENCE)
      const batch = await this.store.readEvents(filter, after, PAGE)
      return { ...batch, isEnd: batch.isEnd && moved < SEQUENCE }
    } catch (error) {
      if (isSpillwayError(error) && error.code === 'store_unavailable') return undefined
      throw error
    }
  }

  private async sequenceAll(): Promise<void> {
    while ((await this.store.sequenceEvents(SEQUENCE)) === SEQUENCE);
  }
}

function filterOf({ types, queue, kind }: EventOptions): EventFilter {
  return {
    ...(types === undefined ? {} : { types: checkTypes(types) }),
    ...(queue === undefined ? {} : { queue: checkText('queue', queue) }),
    ...(kind === undefined ? {} : { kind: checkText('kind', kind) }),
  }
}

/** @throws `invalid_option` for one that is none, and for an empty list. */
export function checkTypes(types: readonly string[]): readonly EventType[] {
  const wrong = Array.isArray(types) ? types.find((type) => !isEventType(type)) : types
  if (Array.isArray(types) && types.length > 0 && types.every(isEventType)) return [...new Set(types)]
  throw new SpillwayError(
    'invalid_option',
    `cannot tell of events of type ${JSON.stringify(wrong) ?? 'none'}: ${Object.keys(EVENT_TYPES).join(', ')} are accepted`,
  )
}

function checkPosition(position: string): string {
  if (isJobId(position)) return position
  throw new SpillwayError(
    'invalid_option',
    `cannot go on after ${JSON.stringify(position) ?? String(position)}: the position of an event is accepted, a decimal number as text`,
  )
}
