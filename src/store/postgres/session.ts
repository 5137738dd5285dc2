import type { CallbackState } from '../../job/callback.js'
import type {
  CallbackAnswer,
  CallbackRequest,
  ClaimedJob,
  DeathAlong,
  Notice,
  OpenCallback,
  Pulse,
  Question,
  Served,
  Settled,
  Settlement,
  Verdict,
  WorkerSession,
} from '../store.js'
import { ClaimedRow } from './claimed-row.js'
import type { Database } from './database.js'
import type { DeathWriter } from './death-writer.js'
import { Floors, type Head, headsOf } from './floors.js'
import { dateOf } from './job-row.js'
import { Passing } from './passing.js'
import type { callbackQueries } from './queries/callbacks.js'
import type { claimQueries, HeadRow, Wanted } from './queries/claim.js'
import type { servedQueries } from './queries/served.js'
import type { PulseDocument, sessionQueries } from './queries/session.js'
import type { setAsideQueries } from './queries/set-aside.js'
import type { Settler } from './settler.js'
import type { SuspectWatch } from './suspect-watch.js'

/** How many claims a registration can number: 2^36, some years of a thousand a second. */
const CLAIM_BITS = 36n
const LOOK_MS = 1_000
/** From here on a claim goes in two parts: the second is on its way while the first begins. */
const WORTH_PARTS = 200
/** A look may take this part of the time: with a long reader present it walks over dead entries. */
const LOOK_SHARE = 20

export interface SessionParts {
  readonly claims: ReturnType<typeof claimQueries>
  readonly session: ReturnType<typeof sessionQueries>
  readonly callbacks: ReturnType<typeof callbackQueries>
  readonly questions: ReturnType<typeof servedQueries>
  readonly setAside: ReturnType<typeof setAsideQueries>['setAside']
  readonly settler: Settler
  readonly deaths: DeathWriter
  /** Ids of jobs whose attempts have reported progress. */
  readonly reported: Set<string>
  /** One connection: claims of a registration are numbered in order. */
  readonly lane: Database
  /** For what is not to keep claims waiting. */
  readonly beside: Database
  readonly registration: string
  readonly queues: readonly string[]
  readonly served: readonly Served[]
  readonly watch: SuspectWatch
  readonly tell: (notice: Notice) => void
}

interface QueueView {
  readonly floors: Floors
  readonly passing: Passing
  /** Heads seen by a look that no claim has used yet. */
  heads: Head[]
  nextLookAt: number
}

/** Made twice it is the same one. */
const CALLBACK = { repeatable: true, patienceMs: 5_000 } as const

/** One registration on PostgreSQL: numbers its claims, and remembers how far each queue was looked through. */
export class Session implements WorkerSession {
  readonly registration: string
  private readonly views = new Map<string, QueueView>()
  private readonly base: bigint
  /** Number of the last claim that was sent, and of the last whose jobs the worker knows of or will never see. */
  private sent = 0n
  private answered = 0n
  private isClaiming = false

  constructor(private readonly parts: SessionParts) {
    this.registration = parts.registration
    this.base = BigInt(parts.registration) << CLAIM_BITS
    const { claims, setAside, beside: db, tell } = parts
    for (const queue of parts.queues) {
      const floors = new Floors()
      const passing = new Passing({ queue, floors, db, claims, setAside, tell })
      this.views.set(queue, { floors, passing, heads: [], nextLookAt: 0 })
    }
  }

  async claim(
    queue: string,
    limit: number,
    except?: ReadonlySet<string>,
    onJobs?: (jobs: readonly ClaimedJob[]) => void,
  ): Promise<readonly ClaimedJob[]> {
    const view = this.view(queue)
    if (this.parts.watch.suspicion.version === undefined) await this.parts.watch.follow(undefined)
    const jobs: ClaimedJob[] = []
    const served = servedBut(this.parts.served, except)
    if (view.passing.follow(this.wanted(served))) view.nextLookAt = 0
    const part = limit < WORTH_PARTS ? limit : Math.ceil(limit / 2)
    // Only while no claim is under way are all claimed jobs in the worker's hands.
    this.answered = this.sent
    this.isClaiming = true
    try {
      while (jobs.length < limit) {
        const heads = await this.heads(queue, view)
        const best = heads[0]?.priority
        if (best === undefined) break
        // One priority at a time, so that a worse one never goes first; inside it the slot with the oldest row.
        for (const head of heads) {
          if (head.priority !== best) break
          let asked = Math.min(part, limit - jobs.length)
          let next = asked > 0 ? this.claimFrom(queue, view, head, asked, served) : undefined
          while (next) {
            const taken: ClaimedJob[] = await next
            jobs.push(...taken)
            const isMore: boolean = taken.length === asked && jobs.length < limit
            asked = Math.min(part, limit - jobs.length)
            // Sent before these are handed over, so that the database works while their handlers begin.
            next = isMore ? this.claimFrom(queue, view, head, asked, served) : undefined
            if (taken.length > 0) onJobs?.(taken)
          }
        }
      }
    } catch (error) {
      // What was claimed before the fault is the worker's; what the failed claim may have taken goes back with a beat.
      if (jobs.length === 0) throw error
    } finally {
      this.isClaiming = false
    }
    return jobs
  }

  heard(notice: Notice & { type: 'ready' }): void {
    this.views.get(notice.queue)?.floors.lower(notice.priority, BigInt(notice.position))
  }

  get hasSuspects(): boolean {
    return !this.parts.watch.suspicion.isEmpty
  }

  takeTurn(queue: string): Promise<'ours' | 'theirs' | 'none'> {
    return this.parts.watch.takeTurn(queue)
  }

  leaveTurn(queue: string): Promise<void> {
    return this.parts.watch.leaveTurn(queue)
  }

  async claimSuspect(queue: string): Promise<ClaimedJob | undefined> {
    this.answered = this.sent
    this.isClaiming = true
    try {
      return await this.parts.watch.claim(queue, () => String(this.base + ++this.sent))
    } finally {
      this.isClaiming = false
    }
  }

  isAloneToTheEnd(job: ClaimedJob): boolean {
    return this.parts.watch.suspicion.isAloneToTheEnd(job)
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly Settled[]> {
    const settled = await this.parts.settler.settle(settlements)
    if (this.hasSuspects) await this.parts.watch.succeeded(settlements, settled)
    if (this.parts.reported.size > 0) {
      const ended = settlements.map(({ job }) => job).filter(({ id }) => this.parts.reported.delete(id))
      if (ended.length > 0) await this.parts.settler.forgetProgress(ended)
    }
    return settled
  }

  async settleDeath(settlement: Settlement, along: DeathAlong): Promise<Settled> {
    const settled = await this.parts.deaths.write(settlement, along)
    this.parts.reported.delete(settlement.job.id)
    return settled
  }

  async pulse(): Promise<Pulse> {
    const { lane, session, queues, registration } = this.parts
    const startedAt = performance.now()
    const rows = await lane.run(session.pulse, [queues as string[], registration], { repeatable: true, patienceMs: 0 })
    const tookMs = performance.now() - startedAt
    const waiting = new Set<string>()
    for (const [queue, view] of this.views) {
      const own = rows.filter((row) => Number(row[1]) >= 0 && row[0] === queue)
      this.looked(view, own, tookMs)
      if (own.length > 0) waiting.add(queue)
    }
    const document = JSON.parse(rows.find((row) => Number(row[1]) === -1)?.[0] ?? '{}') as PulseDocument
    await this.parts.watch.follow(document.quarantine)
    const aborts = (document.aborts ?? []).map(([jobId, leaseId, reason]) => ({ jobId, leaseId, reason }))
    if (aborts.length > 0) {
      const jobs = `{${aborts.map(({ jobId }) => jobId).join(',')}}`
      const leases = `{${aborts.map(({ leaseId }) => leaseId).join(',')}}`
      await lane.run(session.aborted, [registration, jobs, leases], { repeatable: true, patienceMs: 0 })
    }
    // What is found among what was passed over, the claim that follows takes.
    await Promise.all([...this.views.values()].map(({ passing }) => passing.lookBehind()))
    return {
      aborts,
      policyVersion: document.policy,
      quarantineVersion: document.quarantine,
      storeTime: document.now,
      waiting: [...waiting],
      paused: document.paused ?? [],
      hasQuestions: document.questions,
    }
  }

  async beat(held: readonly ClaimedJob[]): Promise<boolean> {
    const { lane, session, registration } = this.parts
    if (!this.isClaiming) this.answered = this.sent
    const upTo = this.answered
    const alive = await lane.run(session.beat, [registration], { repeatable: true, patienceMs: 0 })
    if (alive.length === 0) return false
    await this.returnUnheld(held, upTo)
    return true
  }

  async progress(job: ClaimedJob, value: string): Promise<boolean> {
    this.parts.reported.add(job.id)
    const rows = await this.parts.lane.run(this.parts.session.progress, [job.id, job.leaseId, value], {
      repeatable: true,
      patienceMs: 5_000,
    })
    return rows.length > 0
  }

  async openCallback({ id, leaseId }: ClaimedJob, request: CallbackRequest): Promise<OpenCallback | undefined> {
    const { lane, callbacks } = this.parts
    const { name, tokenHash, timeoutMs } = request
    const [row] = await lane.run(callbacks.open, [id, leaseId, name, tokenHash, timeoutMs], CALLBACK)
    if (!row) return undefined
    const [callbackId, state, answer, waitsUntilMs] = row
    return { id: callbackId, state: state as CallbackState, answer, waitsUntil: dateOf(waitsUntilMs) }
  }

  async callbackAnswer({ id, leaseId }: ClaimedJob, callbackId: string): Promise<CallbackAnswer | undefined> {
    const { lane, callbacks } = this.parts
    const [row] = await lane.run(callbacks.answer, [id, leaseId, callbackId], CALLBACK)
    return row && { state: row[0] as CallbackState, answer: row[1] }
  }

  async lateCallback({ id, leaseId }: ClaimedJob): Promise<string | undefined> {
    const { lane, callbacks } = this.parts
    return (await lane.run(callbacks.late, [id, leaseId], CALLBACK))[0]?.[0]
  }

  async takeQuestion(): Promise<Question | undefined> {
    const { lane, questions, registration } = this.parts
    const [row] = await lane.run(questions.take, [registration])
    if (!row) return undefined
    const [id, kind, , ids] = row
    const payloads = await lane.run(questions.payloads, [ids], { repeatable: true, patienceMs: 0 })
    return {
      id,
      kind,
      payloads: payloads.map(([job, version, payload]) => ({ id: job, kind, version: Number(version), payload })),
    }
  }

  async answerQuestion(id: string, verdicts: readonly Verdict[]): Promise<void> {
    await this.parts.lane.run(this.parts.questions.answer, [id, JSON.stringify(verdicts)], { repeatable: true })
  }

  handlerEnded(job: ClaimedJob): Promise<void> {
    return this.parts.settler.handlerEnded(job)
  }

  async stopping(): Promise<void> {
    await this.parts.lane.run(this.parts.session.stopping, [this.registration], { repeatable: true, patienceMs: 1_000 })
  }

  async end(): Promise<void> {
    // First the leases, then the registration: what is left without one would be taken for a crash.
    await this.returnUnheld([], this.sent)
    await this.parts.lane.run(this.parts.session.end, [this.registration], { repeatable: true, patienceMs: 1_000 })
  }

  async close(): Promise<void> {
    await Promise.all([...this.views.values()].map(({ passing }) => passing.close()))
    const { lane, beside, settler, deaths } = this.parts
    await Promise.all([lane.close(), beside.close(), settler.close(), deaths.close()])
  }

  private view(queue: string): QueueView {
    const view = this.views.get(queue)
    if (!view) throw new Error(`this session was not registered for queue ${queue}`)
    return view
  }

  /** Where the queue's next rows are: above the floors, or once a second from the very beginning. */
  private async heads(queue: string, view: QueueView): Promise<Head[]> {
    const { lane, claims } = this.parts
    const startedAt = performance.now()
    const isLooking = view.heads.length === 0 && startedAt >= view.nextLookAt
    if (isLooking) {
      const rows = await lane.run(claims.look, [[queue]], { repeatable: true, patienceMs: 0 })
      this.looked(view, rows, performance.now() - startedAt)
      void view.passing.lookBehind()
    }
    const { heads } = view
    view.heads = []
    if (heads.length > 0 || (isLooking && view.passing.isEmpty) || view.floors.isEmpty) return heads
    return headsOf(await lane.run(claims.heads, [queue, ...view.floors.params()], { repeatable: true, patienceMs: 0 }))
  }

  private looked(view: QueueView, rows: readonly HeadRow[], tookMs: number): void {
    const heads = view.passing.unmet(headsOf(rows))
    view.floors.see(heads)
    // Behind what is passed over there may be better ones than those that were seen.
    view.heads = view.passing.isEmpty ? heads.sort(byRank) : []
    view.nextLookAt = performance.now() + Math.max(LOOK_MS, tookMs * LOOK_SHARE)
  }

  private async claimFrom(
    queue: string,
    view: QueueView,
    head: Head,
    limit: number,
    served: ServedKinds,
  ): Promise<ClaimedJob[]> {
    const { lane, claims, watch } = this.parts
    const { priority, slot } = head
    const leaseId = String(this.base + ++this.sent)
    const floor = view.floors.floor(priority, slot)
    const { kinds, common, pairs } = served
    const wanted = this.wanted(served)
    const { except } = wanted
    view.passing.follow(wanted)
    const params = [queue, priority, String(floor), limit, kinds, leaseId, common, pairs] as const
    const rows = except
      ? await lane.run(claims.claimOthers[slot] as (typeof claims.claimOthers)[number], [...params, ...except])
      : await lane.run(claims.claim[slot] as (typeof claims.claim)[number], [...params])
    let last = 0n
    let isMet = floor >= head.position
    const jobs = rows.map((row) => {
      const position = BigInt(row[11] as string)
      if (position > last) last = position
      if (position <= head.position) isMet = true
      return new ClaimedRow(row, queue, priority, leaseId)
    })
    const version = rows[0]?.[20]
    // Before any of them enters a handler: what it is may be known to everybody but this worker.
    if (version !== undefined && version !== watch.suspicion.version) await watch.follow(version)
    watch.mark(jobs)
    if (jobs.length === 0) {
      // What is there is another claim's already, or not for this worker: look past it.
      const [tail] = await lane.run(claims.tail[slot] as (typeof claims.tail)[number], [queue, priority])
      last = tail ? BigInt(tail[0]) : head.position
    }
    view.floors.raise(priority, slot, floor, last)
    // The row that was seen is not among them: somebody has it, or this worker does not serve it.
    if (!isMet) view.passing.note(head, last)
    return jobs
  }

  private wanted(served: ServedKinds): Wanted {
    const { suspicion } = this.parts.watch
    const except = suspicion.isEmpty ? undefined : suspicion.params()
    return { ...served, except, key: except ? JSON.stringify([served.kinds, except]) : served.kinds.join('\n') }
  }

  private async returnUnheld(held: readonly ClaimedJob[], upTo: bigint): Promise<void> {
    if (upTo === 0n) return
    await this.parts.lane.run(
      this.parts.session.returnUnheld,
      [
        String(this.base + 1n),
        String(this.base + upTo),
        `{${held.map(({ id }) => id).join(',')}}`,
        `{${held.map(({ leaseId }) => leaseId).join(',')}}`,
      ],
      { repeatable: true, patienceMs: 0 },
    )
    this.parts.tell({ type: 'resync' })
  }
}

/** What a claim may take, as its statement wants it. */
type ServedKinds = Pick<Wanted, 'kinds' | 'common' | 'pairs'>

function byRank(a: Head, b: Head): number {
  return a.priority - b.priority || (a.position < b.position ? -1 : a.position > b.position ? 1 : 0)
}

function servedBut(served: readonly Served[], except?: ReadonlySet<string>): ServedKinds {
  const some = except?.size ? served.filter(({ kind }) => !except.has(kind)) : served
  const kinds = [...new Set(some.map(({ kind }) => kind))]
  const versions = [...new Set(some.map(({ version }) => version))]
  const isCommon = (version: number) =>
    kinds.every((kind) => some.some((it) => it.kind === kind && it.version === version))
  return {
    kinds,
    common: versions.find(isCommon) ?? 0,
    pairs: some.map(({ kind, version }) => `${kind}@${version}`),
  }
}
