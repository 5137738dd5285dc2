import { EventEmitter } from 'node:events'
import type { ClaimedJob } from '../store/store.js'

/** What a worker tells. The library logs nothing; whoever listens does. */
export interface WorkerEvents {
  registered: [event: { registration: string }]
  started: [event: { job: ClaimedJob }]
  completed: [event: { job: ClaimedJob; durationMs: number }]
  /** A failed attempt that will be followed by another one. */
  retrying: [event: { job: ClaimedJob; delayMs: number; message: string }]
  /** Given up: it is in the dead-letter queue, or `failed` on a queue that has none. */
  died: [event: { job: ClaimedJob; reason: string; message: string | null; state: 'archived' | 'failed' | 'gone' }]
  snoozed: [event: { job: ClaimedJob; delayMs: number }]
  /** Its attempt has ended, and it waits for a callback. Not told where the answer came first: then it runs again. */
  waiting: [event: { job: ClaimedJob; callback: string }]
  parked: [event: { job: ClaimedJob; reason: string }]
  /** The lease was gone when the attempt ended: its result was refused, and the job is another's. */
  lost: [event: { job: ClaimedJob; why: string }]
  handedBack: [event: { job: ClaimedJob }]
  revoked: [event: { job: ClaimedJob }]
  /** Handlers that ignore their signal take up this many slots. */
  stuck: [event: { slots: number; of: number }]
  /** Trouble of a background service. Nothing has to be done; it goes on trying. */
  error: [event: { service: string; error: unknown }]
  idle: []
  stopped: []
}

/** An emitter on which nobody has to listen, not even to errors. */
export class WorkerEmitter extends EventEmitter<WorkerEvents> {
  constructor() {
    super()
    // Node ends the process for an `error` without listener; a worker's trouble is not the process's.
    this.on('error', () => undefined)
  }
}
