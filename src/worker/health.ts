import type { QueueSlots } from './queue-slots.js'

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

/** A worker goes through these once. */
export type WorkerState = WorkerHealth['state']

/** What a worker's health follows from. */
interface Signs {
  readonly state: WorkerState
  /** Since the database last answered. */
  readonly silentMs: number
  readonly staleMs: number
  /** Handlers that ignore their signal hold half the slots. */
  readonly isStuck: boolean
}

export function healthOf({ state, silentMs, staleMs, isStuck }: Signs): WorkerHealth {
  const why =
    state !== 'running'
      ? `the worker is ${state}`
      : silentMs > staleMs
        ? `the database was last reached ${Math.round(silentMs / 1_000)} s ago`
        : null
  return {
    ...{ state, why: isStuck ? 'handlers that ignore their signal hold half the slots' : why },
    isAlive: state !== 'stopped' && !isStuck,
    isReady: why === null && !isStuck,
  }
}

export function usageOf(slots: readonly QueueSlots[]): readonly QueueUsage[] {
  return slots.map(({ queue, concurrency, taken, stuck, claimed, isPaused }) => ({
    ...{ queue, concurrency, taken, stuck, claimed, isPaused },
  }))
}
