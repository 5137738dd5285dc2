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
  Settled,
  Settlement,
  Verdict,
  WorkerSession,
} from '../store.js'
import { Claiming, type ClaimingParts } from './claiming.js'
import type { DeathWriter } from './death-writer.js'
import { dateOf } from './job-row.js'
import type { callbackQueries } from './queries/callbacks.js'
import type { servedQueries } from './queries/served.js'
import type { PulseDocument } from './queries/session.js'
import type { Settler } from './settler.js'

export interface SessionParts extends ClaimingParts {
  readonly callbacks: ReturnType<typeof callbackQueries>
  readonly questions: ReturnType<typeof servedQueries>
  readonly settler: Settler
  readonly deaths: DeathWriter
  /** Ids of jobs whose attempts have reported progress. */
  readonly reported: Set<string>
}

/** Made twice it is the same one. */
const CALLBACK = { repeatable: true, patienceMs: 5_000 } as const

/** One registration on PostgreSQL, and what its worker does under it. */
export class Session implements WorkerSession {
  readonly registration: string
  private readonly claiming: Claiming

  constructor(private readonly parts: SessionParts) {
    this.registration = parts.registration
    this.claiming = new Claiming(parts)
  }

  claim(
    queue: string,
    limit: number,
    except?: ReadonlySet<string>,
    onJobs?: (jobs: readonly ClaimedJob[]) => void,
  ): Promise<readonly ClaimedJob[]> {
    return this.claiming.claim(queue, limit, except, onJobs)
  }

  heard(notice: Notice & { type: 'ready' }): void {
    this.claiming.heard(notice)
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

  claimSuspect(queue: string): Promise<ClaimedJob | undefined> {
    return this.claiming.claimSuspect(queue)
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
    const on = this.claiming.lookingOn
    const startedAt = performance.now()
    const rows = await on.run(session.pulse, [queues as string[], registration], { repeatable: true, patienceMs: 0 })
    const waiting = this.claiming.saw(rows, performance.now() - startedAt, on)
    const document = JSON.parse(rows.find((row) => Number(row[1]) === -1)?.[0] ?? '{}') as PulseDocument
    await this.parts.watch.follow(document.quarantine)
    const aborts = (document.aborts ?? []).map(([jobId, leaseId, reason]) => ({ jobId, leaseId, reason }))
    if (aborts.length > 0) {
      const jobs = `{${aborts.map(({ jobId }) => jobId).join(',')}}`
      const leases = `{${aborts.map(({ leaseId }) => leaseId).join(',')}}`
      await lane.run(session.aborted, [registration, jobs, leases], { repeatable: true, patienceMs: 0 })
    }
    await this.claiming.lookBehind()
    return {
      aborts,
      policyVersion: document.policy,
      quarantineVersion: document.quarantine,
      storeTime: document.now,
      waiting,
      paused: document.paused ?? [],
      hasQuestions: document.questions,
    }
  }

  async beat(held: readonly ClaimedJob[]): Promise<boolean> {
    const { lane, session, registration } = this.parts
    const upTo = this.claiming.lastAnswered()
    const alive = await lane.run(session.beat, [registration], { repeatable: true, patienceMs: 0 })
    if (alive.length === 0) return false
    await this.claiming.returnUnheld(held, upTo)
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
    await this.claiming.returnUnheld([], this.claiming.last)
    await this.parts.lane.run(this.parts.session.end, [this.registration], { repeatable: true, patienceMs: 1_000 })
  }

  async close(): Promise<void> {
    await this.claiming.close()
    const { lane, beside, settler, deaths } = this.parts
    await Promise.all([lane.close(), beside.close(), settler.close(), deaths.close()])
  }
}
