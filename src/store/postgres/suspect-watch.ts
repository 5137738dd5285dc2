import type { Served, Settled, Settlement } from '../store.js'
import { ClaimedRow } from './claimed-row.js'
import type { Database } from './database.js'
import type { SuspectDocument, suspectQueries } from './queries/suspects.js'
import { Suspicion } from './suspicion.js'

export interface SuspectWatchParts {
  readonly lane: Database
  readonly queries: ReturnType<typeof suspectQueries>
  readonly registration: string
  readonly served: readonly Served[]
  readonly channel: string
  /** Lets go what a canary has cleared. */
  readonly finishReleases: () => Promise<unknown>
}

const READ = { repeatable: true, patienceMs: 0 } as const

/** What one registration does about fingerprints that have crashed. While there are none it asks nothing. */
export class SuspectWatch {
  readonly suspicion = new Suspicion()

  constructor(private readonly parts: SuspectWatchParts) {}

  /** Reads the list again unless it is the one of `version`. */
  async follow(version: string | undefined): Promise<void> {
    if (version !== undefined && version === this.suspicion.version && !this.suspicion.isOld) return
    const [row] = await this.parts.lane.run(this.parts.queries.list, [], READ)
    if (row) this.suspicion.load(JSON.parse(row[0]) as SuspectDocument)
  }

  /** Marks what was claimed and must not run, or not in company. */
  mark(jobs: readonly ClaimedRow[]): void {
    if (this.suspicion.isEmpty) return
    for (const job of jobs) job.bar = this.suspicion.barOf(job)
  }

  async takeTurn(queue: string): Promise<'ours' | 'theirs' | 'none'> {
    const { lane, queries, registration } = this.parts
    if (this.suspicion.isEmpty || (await this.next(queue)) === undefined) return 'none'
    return (await lane.run(queries.takeTurn, [queue, registration], READ)).length > 0 ? 'ours' : 'theirs'
  }

  async leaveTurn(queue: string): Promise<void> {
    await this.parts.lane.run(this.parts.queries.leaveTurn, [queue, this.parts.registration], READ)
  }

  /** @param leaseId - Of the next claim: called once for each try. */
  async claim(queue: string, leaseId: () => string): Promise<ClaimedRow | undefined> {
    const { lane, queries } = this.parts
    for (;;) {
      const next = await this.next(queue)
      if (!next) return undefined
      const lease = leaseId()
      const [row] = await lane.run(queries.claim[Number(next[0])] as (typeof queries.claim)[number], [next[1], lease])
      // It may have been cancelled, or taken by a worker that did not know yet: look for another one.
      if (!row) continue
      const job = new ClaimedRow(row, queue, Number(row[22]), lease)
      const version = row[20] ?? undefined
      if (version !== this.suspicion.version) await this.follow(version)
      // A suspect is what it was taken for; only what was quarantined meanwhile does not run.
      if (this.suspicion.barOf(job) === 'quarantined') job.bar = 'quarantined'
      return job
    }
  }

  /** Tells of jobs that succeeded though their fingerprint had crashed. */
  async succeeded(settlements: readonly Settlement[], settled: readonly Settled[]): Promise<void> {
    if (this.suspicion.isEmpty) return
    const jobs = settlements
      .filter(({ end }, n) => end.event === 'complete' && hasEnded(settled[n]))
      .map(({ job }) => job)
    const fingerprints = this.suspicion.cleared(jobs)
    if (fingerprints.length === 0) return
    const { lane, queries, channel, finishReleases } = this.parts
    try {
      const ids = jobs.map(({ id }) => id)
      const passed = await lane.run(queries.cleared, [[...fingerprints], ids, channel], READ)
      await this.follow(undefined)
      if (passed.length > 0) await finishReleases()
    } catch {
      // The outcome is written; that it clears its fingerprint is said again by the next success, or by the rescue.
    }
  }

  private async next(queue: string): Promise<[slot: number, id: string] | undefined> {
    const { lane, queries, served } = this.parts
    const [kinds, suspects, quarantined] = this.suspicion.params()
    const known = new Set(kinds)
    const own = served.filter(({ kind }) => known.has(kind))
    if (own.length === 0) return undefined
    const pairs = own.map(({ kind, version }) => `${kind}@${version}`)
    return (await lane.run(queries.next, [queue, own.map(({ kind }) => kind), suspects, quarantined, pairs], READ))[0]
  }
}

function hasEnded(settled: Settled | undefined): boolean {
  return settled?.outcome === 'applied' || settled?.outcome === 'already_applied'
}
