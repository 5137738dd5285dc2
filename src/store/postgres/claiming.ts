import type { ClaimedJob, Notice, Served } from '../store.js'
import { ClaimedRow } from './claimed-row.js'
import type { Database } from './database.js'
import { Floors, type Head, headsOf } from './floors.js'
import { Passing } from './passing.js'
import type { claimQueries, HeadRow, Wanted } from './queries/claim.js'
import type { sessionQueries } from './queries/session.js'
import type { setAsideQueries } from './queries/set-aside.js'
import type { SuspectWatch } from './suspect-watch.js'

/** How many claims a registration can number: 2^36, some years of a thousand a second. */
const CLAIM_BITS = 36n
const LOOK_MS = 1_000
/** From here on a claim goes in two parts: the second is on its way while the first begins. */
const WORTH_PARTS = 200
/** A look may take this part of the time: with a long reader present it walks over dead entries. */
const LOOK_SHARE = 20
/** A look that takes longer does so beside the claims, not between them. */
const SLOW_LOOK_MS = 10

/** What claiming is done with. */
export interface ClaimingParts {
  readonly claims: ReturnType<typeof claimQueries>
  readonly session: ReturnType<typeof sessionQueries>
  readonly setAside: ReturnType<typeof setAsideQueries>['setAside']
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
  /** The look under way beside the claims. */
  looking: Promise<void> | undefined
  /** Called when something is said to have come. */
  onHeard: (() => void) | undefined
}

/** The claims of one registration: numbers them, and remembers how far each queue was looked through. */
export class Claiming {
  private readonly views = new Map<string, QueueView>()
  private readonly base: bigint
  /** Number of the last claim that was sent, and of the last whose jobs the worker knows of or will never see. */
  private sent = 0n
  private answered = 0n
  private isClaiming = false
  /** How long the last look has taken. */
  private lookMs = 0

  constructor(private readonly parts: ClaimingParts) {
    this.base = BigInt(parts.registration) << CLAIM_BITS
    const { claims, setAside, beside: db, tell } = parts
    for (const queue of parts.queues) {
      const floors = new Floors()
      const passing = new Passing({ queue, floors, db, claims, setAside, tell })
      this.views.set(queue, { floors, passing, heads: [], nextLookAt: 0, looking: undefined, onHeard: undefined })
    }
  }

  /** As `WorkerSession.claim` says. */
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
    const view = this.views.get(notice.queue)
    view?.floors.lower(notice.priority, BigInt(notice.position))
    view?.onHeard?.()
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

  /** Where a pulse looks at the queues: beside the claims, if it takes long. */
  get lookingOn(): Database {
    return this.isLookSlow ? this.parts.beside : this.parts.lane
  }

  /** Takes what a pulse has seen of the queues, on that connection; answers those that have something to claim. */
  saw(rows: readonly HeadRow[], tookMs: number, on: Database): string[] {
    const waiting: string[] = []
    for (const [queue, view] of this.views) {
      const own = rows.filter((row) => Number(row[1]) >= 0 && row[0] === queue)
      this.looked(view, own, tookMs, on)
      if (own.length > 0) waiting.push(queue)
    }
    return waiting
  }

  /** Looks among what was passed over: what is found, the claim that follows takes. */
  async lookBehind(): Promise<void> {
    await Promise.all([...this.views.values()].map(({ passing }) => passing.lookBehind()))
  }

  /** The last claim that was sent. */
  get last(): bigint {
    return this.sent
  }

  /** The last claim whose jobs are all in the worker's hands, or will never be. */
  lastAnswered(): bigint {
    if (!this.isClaiming) this.answered = this.sent
    return this.answered
  }

  /** Hands back what claims up to that one have taken and the worker does not hold. */
  async returnUnheld(held: readonly ClaimedJob[], upTo: bigint): Promise<void> {
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

  async close(): Promise<void> {
    await Promise.all(
      [...this.views.values()].flatMap(({ passing, looking = Promise.resolve() }) => [passing.close(), looking]),
    )
  }

  private view(queue: string): QueueView {
    const view = this.views.get(queue)
    if (!view) throw new Error(`this session was not registered for queue ${queue}`)
    return view
  }

  /** Where the queue's next rows are: above the floors, or once a second from the very beginning. */
  private async heads(queue: string, view: QueueView): Promise<Head[]> {
    const { lane } = this.parts
    const isDue = view.heads.length === 0 && performance.now() >= view.nextLookAt
    const isBeside = isDue && this.isLookSlow && !view.floors.isEmpty
    if (isBeside) this.lookBeside(queue, view)
    else if (isDue) await this.look(queue, view, lane)
    const { heads } = view
    view.heads = []
    if (heads.length > 0 || (isDue && !isBeside && view.passing.isEmpty) || view.floors.isEmpty) return heads
    const above = await this.above(queue, view)
    if (above.length > 0 || !view.looking) return above
    // Nothing is above the floors: then what the look finds below them, or what is told of meanwhile.
    const heard = new Promise<void>((resolve) => {
      view.onHeard = resolve
    })
    await Promise.race([view.looking, heard])
    view.onHeard = undefined
    return this.above(queue, view)
  }

  private async above(queue: string, { floors }: QueueView): Promise<Head[]> {
    const { lane, claims } = this.parts
    return headsOf(await lane.run(claims.heads, [queue, ...floors.params()], { repeatable: true, patienceMs: 0 }))
  }

  private async look(queue: string, view: QueueView, on: Database): Promise<void> {
    const startedAt = performance.now()
    const rows = await on.run(this.parts.claims.look, [[queue]], { repeatable: true, patienceMs: 0 })
    this.looked(view, rows, performance.now() - startedAt, on)
    void view.passing.lookBehind()
  }

  /** While claims go on above the floors; what is found below them lowers them. */
  private lookBeside(queue: string, view: QueueView): void {
    view.looking ??= this.look(queue, view, this.parts.beside)
      // The rows stand where they stood, and the next look is not far.
      .catch(() => {
        view.nextLookAt = performance.now() + LOOK_MS
      })
      .finally(() => {
        view.looking = undefined
      })
  }

  private looked(view: QueueView, rows: readonly HeadRow[], tookMs: number, on: Database): void {
    this.lookMs = tookMs
    const heads = view.passing.unmet(headsOf(rows))
    view.floors.see(heads)
    // Behind what is passed over there may be better ones than those that were seen; and where claims have gone on
    // meanwhile, they know better where the first rows are.
    view.heads = view.passing.isEmpty && on === this.parts.lane ? heads.sort(byRank) : []
    view.nextLookAt = performance.now() + Math.max(LOOK_MS, tookMs * LOOK_SHARE)
  }

  private get isLookSlow(): boolean {
    return this.lookMs > SLOW_LOOK_MS
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
      const [tail] = await lane.run(claims.tail[slot] as (typeof claims.tail)[number], [
        queue,
        priority,
        String(head.position),
      ])
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
