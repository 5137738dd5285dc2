import { randomBytes } from 'node:crypto'
import { hashOfToken } from '../../src/job/callback.js'
import type { ClaimedJob, JobEnd, OpenCallback, Store, WorkerSession } from '../../src/store/store.js'
import type { Given, JobSeed } from '../../src/testing/factories.js'
import { workerInfo } from '../support/worker-info.js'

export interface OpenedCallback extends OpenCallback {
  readonly name: string
  /** Hex digits of the hash: what the store is asked with. */
  readonly token: string
}

const SERVED = ['test', 'charge "card"'].map((kind) => ({ kind, version: 1 }))

/** A worker's session that the test drives by hand. */
export interface CallbackSession {
  readonly session: WorkerSession
  /** Claims the job; what else is claimed on the way is dropped. */
  claim(id: string): Promise<ClaimedJob>
  /** Makes a job and claims it. */
  running(seed?: JobSeed): Promise<ClaimedJob>
  open(job: ClaimedJob, name?: string, timeoutMs?: number | null): Promise<OpenedCallback>
  /** Ends the attempt by waiting; where the job went. */
  wait(job: ClaimedJob, callback: OpenCallback, retryDelayMs?: number): Promise<string | null | undefined>
  /** A job that waits for a callback that this session opened. */
  waiting(seed?: JobSeed, timeoutMs?: number | null): Promise<{ job: ClaimedJob; callback: OpenedCallback }>
}

export async function callbackSession(store: Store, given: Given): Promise<CallbackSession> {
  const session = await store.register(workerInfo({ queues: ['default', 'plain', 'bare'], serves: SERVED }))

  async function claim(id: string): Promise<ClaimedJob> {
    const queue = (await store.getJob(id))?.queue ?? 'default'
    for (let look = 0; look < 3; look++) {
      const job = (await session.claim(queue, 100)).find((it) => it.id === id)
      if (job) return job
      // A pulse looks from the beginning.
      await session.pulse()
    }
    throw new Error(`job ${id} was not claimed: it is ${(await store.getJob(id))?.state}`)
  }

  async function open(job: ClaimedJob, name = 'approval', timeoutMs: number | null = null): Promise<OpenedCallback> {
    const token = newToken()
    const opened = await session.openCallback(job, { name, tokenHash: token, timeoutMs })
    if (!opened) throw new Error(`the lease of job ${job.id} is lost`)
    return { ...opened, name, token }
  }

  async function running(seed: JobSeed = {}): Promise<ClaimedJob> {
    const [id] = await given.jobs(1, seed)
    return claim(id as string)
  }

  async function wait(job: ClaimedJob, callback: OpenCallback, retryDelayMs = 60_000) {
    const [settled] = await session.settle([{ job, end: waitEnd(callback.id, retryDelayMs) }])
    return settled?.state
  }

  return {
    session,
    claim,
    running,
    open,
    wait,
    async waiting(seed = {}, timeoutMs = null) {
      const job = await running(seed)
      const callback = await open(job, 'approval', timeoutMs)
      await wait(job, callback)
      return { job, callback }
    },
  }
}

export function waitEnd(callbackId: string, retryDelayMs = 60_000): JobEnd {
  return { event: 'wait', callbackId, name: 'approval', retryDelayMs }
}

export function newToken(): string {
  return hashOfToken(randomBytes(32).toString('base64url'))
}
