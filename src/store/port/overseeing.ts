import type { DutyName } from '../../job/duties.js'
import type { Act } from './act.js'

/** How a duty fares. When it last succeeded is known to about five seconds while some process leads. */
export interface StoredDuty {
  readonly duty: DutyName
  readonly lastSuccessAt: Date | null
  readonly lastError: string | null
  readonly lastErrorAt: Date | null
  /** Passes that failed, ever. */
  readonly failures: number
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pausedReason: string | null
}

/** When the slots of a ring are left for the next one. */
export interface StoredRing {
  readonly ring: 'ready' | 'leases'
  readonly head: number
  readonly rotatedAt: Date
  readonly rotateRows: number
  readonly rotateMs: number
}

export interface RingPatch {
  readonly rotateRows?: number
  readonly rotateMs?: number
}

export interface Overseeing {
  /** All there are, also those that never ran. */
  duties(): Promise<readonly StoredDuty[]>
  /** No process begins another pass of it, within a second; one under way ends. */
  pauseDuty(duty: DutyName, act: Act): Promise<StoredDuty>
  resumeDuty(duty: DutyName, act: Act): Promise<StoredDuty>
  rings(): Promise<readonly StoredRing[]>
  /** Holds from the next turn on, in every process. */
  setRing(ring: 'ready' | 'leases', patch: RingPatch, act: Act): Promise<StoredRing>
}
