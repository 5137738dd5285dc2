import { fingerprintOf } from '../../job/fingerprint.js'
import type { ClaimedJob } from '../store.js'
import type { SuspectDocument } from './queries/suspects.js'

const NONE: readonly string[] = Object.freeze([])

/** A worker's copy of what is quarantined, and of what crashed and is therefore run alone. */
export class Suspicion {
  private quarantined = new Map<string, string>()
  private suspects = new Map<string, { readonly kind: string; readonly untilItEnds: boolean }>()
  private kinds: ReadonlySet<string> = new Set()
  private loadedAt = Number.NEGATIVE_INFINITY
  /** Undefined before it was loaded. */
  version: string | undefined

  load(document: SuspectDocument): void {
    this.version = document.version
    this.loadedAt = performance.now()
    this.quarantined = new Map(document.quarantined ?? [])
    this.suspects = new Map(
      (document.suspects ?? [])
        .filter(([fingerprint]) => !this.quarantined.has(fingerprint))
        .map(([fingerprint, kind, untilItEnds]) => [fingerprint, { kind, untilItEnds }]),
    )
    this.kinds = new Set([...this.quarantined.values(), ...[...this.suspects.values()].map(({ kind }) => kind)])
  }

  /** Nothing has crashed, so nobody has to look at a payload. */
  get isEmpty(): boolean {
    return this.kinds.size === 0
  }

  /** Suspicion ends with time, and no version tells of that. */
  get isOld(): boolean {
    return !this.isEmpty && performance.now() - this.loadedAt > RELOAD_MS
  }

  /** The parameters by which a claim tells suspects from others. */
  params(): [kinds: string[], suspects: string[], quarantined: string[]] {
    return [[...this.kinds], [...this.suspects.keys()], [...this.quarantined.keys()]]
  }

  /** What forbids to run the job in company of others, or at all. */
  barOf(job: ClaimedJob): ClaimedJob['bar'] {
    if (!this.kinds.has(job.kind)) return undefined
    const fingerprint = fingerprintOf(job.kind, job.payload)
    if (this.quarantined.has(fingerprint)) return job.releaseId === null ? 'quarantined' : 'suspect'
    return this.suspects.has(fingerprint) ? 'suspect' : undefined
  }

  /** Whether a job that runs alone stays so until it ends, because one more crash convicts it. */
  isAloneToTheEnd(job: ClaimedJob): boolean {
    const fingerprint = fingerprintOf(job.kind, job.payload)
    return this.quarantined.has(fingerprint) || (this.suspects.get(fingerprint)?.untilItEnds ?? false)
  }

  /** The fingerprints of those jobs whose success means something. */
  cleared(jobs: readonly ClaimedJob[]): readonly string[] {
    if (this.isEmpty) return NONE
    const found = new Set<string>()
    for (const { kind, payload } of jobs) {
      if (!this.kinds.has(kind)) continue
      const fingerprint = fingerprintOf(kind, payload)
      if (this.suspects.has(fingerprint) || this.quarantined.has(fingerprint)) found.add(fingerprint)
    }
    return [...found]
  }
}

const RELOAD_MS = 30_000
