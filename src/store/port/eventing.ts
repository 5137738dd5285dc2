import type { Act } from './act.js'

/** Something that happened to a job, as whoever wants to be told of it sees it. Never a payload. */
export interface LoggedEvent {
  /** Of the transition: the same wherever the event is told of. */
  readonly id: string
  /** Its place in the log, from 1, without gaps; what a reader goes on from. */
  readonly position: string
  /** When it happened. */
  readonly at: Date
  /** One of `EVENT_TYPES`; a newer version may write others. */
  readonly type: string
  readonly jobId: string
  readonly queue: string
  readonly kind: string
  readonly generation: number
  readonly reason: string | null
  readonly cause: string | null
  /** At most 500 characters, masked. */
  readonly message: string | null
}

export interface EventFilter {
  readonly types?: readonly string[]
  readonly queue?: string
  readonly kind?: string
}

export interface EventBatch {
  readonly events: readonly LoggedEvent[]
  /** Everything up to here was looked at. */
  readonly position: string
  /** There is nothing behind it now. */
  readonly isEnd: boolean
}

export interface Eventing {
  /**
   * Gives positions to events that were committed, at most `limit`, so that they can be read. One at a time is at it,
   * however many call. A reader that has passed a position never misses one below it.
   */
  sequenceEvents(limit: number): Promise<number>
  /** Events behind a position, in order; looks at a bounded part of the log. */
  readEvents(filter: EventFilter, after: string, limit: number): Promise<EventBatch>
  /** The newest position, and how long events are kept. */
  eventHead(): Promise<{ readonly position: string; readonly retentionMs: number }>
  setEventRetention(ms: number, act: Act): Promise<number>
}
