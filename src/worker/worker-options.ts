import type { DeathHandler } from '../job/death.js'
import { type JobHandler, kindsOf } from '../job/definition.js'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { checkCallbackUrl } from './callbacks.js'
import { QueueSlots } from './queue-slots.js'

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

export interface StopOptions {
  /** How long running handlers may take to end by themselves. Default: 25 s. */
  readonly grace?: Duration
  /** How long they may take once their signals are aborted. Default: 5 s. */
  readonly abort?: Duration
}

/** What a worker goes by: its options, checked, with what is left out filled in. */
export interface WorkerTerms {
  /** By kind, those of aliases too. */
  readonly handlers: ReadonlyMap<string, JobHandler>
  readonly slots: readonly QueueSlots[]
  readonly heartbeatMs: number
  readonly staleMs: number
  /** Undefined: as notices allow. */
  readonly pollMs: number | undefined
  readonly callbackUrl: string | undefined
  readonly onDeathMs: number
}

/** @throws `invalid_option` */
export function termsOf(options: WorkerOptions): WorkerTerms {
  const queues = Object.entries(options.queues)
  if (queues.length === 0) {
    throw new SpillwayError('invalid_option', 'a worker without queues takes nothing: name at least one in `queues`')
  }
  const handlers = byKind(options.jobs)
  const heartbeatMs = parseDuration(options.heartbeat ?? 15_000, 'heartbeat')
  const staleMs = parseDuration(options.stale ?? 3 * heartbeatMs, 'stale')
  if (staleMs < 2 * heartbeatMs) {
    throw new SpillwayError(
      'invalid_option',
      `stale (${staleMs} ms) must be at least twice the heartbeat (${heartbeatMs} ms)`,
    )
  }
  return {
    handlers,
    slots: queues.map(([queue, { concurrency = 10 }]) => new QueueSlots(queue, concurrency)),
    heartbeatMs,
    staleMs,
    pollMs: options.poll === undefined ? undefined : parseDuration(options.poll, 'poll'),
    callbackUrl: options.callbackUrl === undefined ? undefined : checkCallbackUrl(options.callbackUrl),
    onDeathMs: parseDuration(options.onDeathTimeout ?? 30_000, 'onDeathTimeout'),
  }
}

function byKind(jobs: readonly JobHandler[]): ReadonlyMap<string, JobHandler> {
  const handlers = new Map<string, JobHandler>()
  for (const handler of jobs) {
    for (const kind of kindsOf(handler.definition)) {
      if (handlers.has(kind)) {
        throw new SpillwayError('invalid_option', `two handlers for kind "${kind}": a worker has one for each`)
      }
      handlers.set(kind, handler)
    }
  }
  if (handlers.size === 0) {
    throw new SpillwayError('invalid_option', 'a worker without handlers runs nothing: name at least one in `jobs`')
  }
  return handlers
}

/** How long a stop waits, in ms. */
export function patienceOf(options: StopOptions): { readonly graceMs: number; readonly abortMs: number } {
  return {
    graceMs: parseStop(options.grace ?? 25_000, 'grace'),
    abortMs: parseStop(options.abort ?? 5_000, 'abort'),
  }
}

function parseStop(value: Duration, name: string): number {
  return value === 0 ? 0 : parseDuration(value, name)
}
