import { EventEmitter } from 'node:events'
import type { ClaimedJob, Settled } from '../store/store.js'
import { reachedBy } from './death.js'
import type { Ended } from './settle-buffer.js'

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

  /** Tells what became of an attempt whose end was written, or refused because its lease was gone. */
  tellSettled({ job, end, durationMs }: Ended, { outcome, state }: Settled): void {
    if (outcome === 'lost') {
      if (end.event !== 'handback') this.emit('lost', { job, why: 'its lease was taken back before it ended' })
      return
    }
    switch (end.event) {
      case 'complete':
        if (this.listenerCount('completed') > 0) this.emit('completed', { job, durationMs })
        break
      case 'retry':
        if (this.listenerCount('retrying') > 0) {
          this.emit('retrying', { job, delayMs: end.delayMs, message: messageOf(end.entry) })
        }
        break
      case 'dead':
        this.emit('died', { job, reason: end.reason, message: end.errorMessage, state: reachedBy(state) })
        break
      case 'snooze':
        this.emit('snoozed', { job, delayMs: end.delayMs })
        break
      case 'wait':
        if (state === 'waiting') this.emit('waiting', { job, callback: end.name })
        break
      case 'undecodable':
        this.emit('parked', { job, reason: end.reason })
        break
      case 'handback':
        this.emit('handedBack', { job })
        break
      case 'quarantine':
        if (state === 'quarantined') this.emit('parked', { job, reason: 'its fingerprint is quarantined' })
        break
      case 'revoke':
        this.emit('revoked', { job })
        break
    }
  }
}

function messageOf(entry: string | null): string {
  return entry === null ? '' : String((JSON.parse(entry) as { message?: unknown }).message ?? '')
}
