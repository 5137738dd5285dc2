import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Another queue, driven as its own documentation advises for throughput. */
export interface PeerQueue {
  addOne(data: { i: number }): Promise<unknown>
  addMany(from: number, to: number): Promise<unknown>
  /** Starts a worker; the handler throws when a job is to die. */
  work(handle: (data: { i: number }) => void, pickup: boolean): Promise<void>
  /** Jobs that are not yet at their end; dead ones. */
  left(): Promise<number>
  dead(): Promise<number>
  close(): Promise<void>
}

export interface PeerSpec {
  readonly pkg: string
  /** The schema it makes; null where it does not live in PostgreSQL. */
  readonly schema: string | null
  readonly needs?: string
  readonly settings: string
  open(url: string, dies: boolean): Promise<PeerQueue>
}

export const PEERS = {
  'pg-boss': {
    pkg: 'pg-boss',
    schema: 'pgboss',
    settings: 'batch 1000 x 2, pickup: notify, batch 10 x 2',
    open: pgBoss,
  },
  'graphile-worker': {
    pkg: 'graphile-worker',
    schema: 'graphile_worker',
    settings: 'localQueue 500, concurrency 24, batched completion',
    open: graphileWorker,
  },
  bullmq: {
    pkg: 'bullmq',
    schema: null,
    needs: 'REDIS_URL',
    settings: 'concurrency 100',
    open: bullMq,
  },
} satisfies Record<string, PeerSpec>

export type PeerName = keyof typeof PEERS

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ i: from + n }))

// The packages are not ours, so neither are their types.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Foreign = any

/** A package of the folder BENCH_PEERS_DIR. */
async function load(name: string): Promise<Foreign> {
  const require = createRequire(join(process.env.BENCH_PEERS_DIR ?? '.', 'x.js'))
  const found = await import(pathToFileURL(require.resolve(name)).href)
  return { ...found.default, ...found }
}

async function pgBoss(url: string, dies: boolean): Promise<PeerQueue> {
  const { PgBoss } = await load('pg-boss')
  const boss = new PgBoss({ connectionString: url, max: 20, useListenNotify: true })
  boss.on('error', (error: Error) => console.error(`pg-boss: ${error.message}`))
  await boss.start()
  await boss.createQueue('dlq', {})
  await boss.createQueue('q', { deadLetter: 'dlq', retryLimit: dies ? 0 : 2, notify: true })
  const count = (where: string) => counter(url, `select count(*) as n from pgboss.job where ${where}`)
  return {
    addOne: (data) => boss.send('q', data),
    addMany: (from, to) =>
      boss.insert(
        'q',
        range(from, to).map((data) => ({ data })),
      ),
    async work(handle, pickup) {
      const options = {
        batchSize: pickup ? 10 : 1000,
        localConcurrency: 2,
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      }
      const each = async (jobs: Foreign[]) => {
        for (const job of jobs) handle(job.data)
      }
      // One answer for each job of a batch, else one failure fails the whole batch.
      const alone = async (jobs: Foreign[]) =>
        jobs.map((job) => {
          try {
            handle(job.data)
            return { id: job.id, status: 'completed' }
          } catch (error) {
            return { id: job.id, status: 'failed', output: { message: (error as Error).message } }
          }
        })
      await boss.work('q', dies ? { ...options, perJobResults: true } : options, dies ? alone : each)
    },
    left: count(`name = 'q' and state < 'completed'`),
    dead: count(`name = 'dlq'`),
    close: () => boss.stop({ graceful: true, timeout: 5000 }),
  }
}

async function graphileWorker(url: string, dies: boolean): Promise<PeerQueue> {
  const graphile = await load('graphile-worker')
  const logger = new graphile.Logger(() => () => {})
  const utils = await graphile.makeWorkerUtils({ connectionString: url, maxPoolSize: 20, logger })
  await utils.migrate()
  const maxAttempts = dies ? 1 : 25
  let runner: Foreign
  const count = (where: string) =>
    counter(url, `select count(*) as n from graphile_worker._private_jobs where ${where}`)
  return {
    addOne: (data) => utils.addJob('t', data, { maxAttempts }),
    addMany: (from, to) => utils.addJobs(range(from, to).map((payload) => ({ identifier: 't', payload, maxAttempts }))),
    async work(handle) {
      const tuned = {
        localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      }
      runner = await graphile.run({
        preset: { worker: { connectionString: url, concurrentJobs: 24, maxPoolSize: 25, logger, ...tuned } },
        noHandleSignals: true,
        logger,
        taskList: { t: async (data: { i: number }) => handle(data) },
      })
    },
    left: count('attempts < max_attempts or locked_at is not null'),
    dead: count('attempts >= max_attempts and locked_at is null'),
    async close() {
      await runner?.stop()
      await utils.release()
    },
  }
}

async function bullMq(_url: string, dies: boolean): Promise<PeerQueue> {
  const { Queue, Worker } = await load('bullmq')
  const { hostname, port } = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1')
  const connection = { host: hostname, port: Number(port || 6379), maxRetriesPerRequest: null }
  const options = { connection, prefix: 'spillway_bench' }
  const defaultJobOptions = { attempts: dies ? 1 : 3, removeOnComplete: true, removeOnFail: false }
  const queue = new Queue('q', { ...options, defaultJobOptions })
  let worker: Foreign
  return {
    addOne: (data) => queue.add('t', data),
    addMany: (from, to) => queue.addBulk(range(from, to).map((data) => ({ name: 't', data }))),
    async work(handle) {
      worker = new Worker('q', async (job: Foreign) => handle(job.data), {
        ...options,
        concurrency: 100,
        lockDuration: 60_000,
      })
      worker.on('error', (error: Error) => console.error(`bullmq: ${error.message}`))
      await worker.waitUntilReady()
    },
    async left() {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized')
      return Object.values(counts as Record<string, number>).reduce((sum, n) => sum + n, 0)
    },
    dead: () => queue.getFailedCount(),
    async close() {
      await worker?.close()
      if (worker) await queue.obliterate({ force: true })
      await queue.close()
    },
  }
}

/** Counts by a connection that lives as long as the process. */
function counter(url: string, text: string): () => Promise<number> {
  let client: Promise<Foreign> | undefined
  return async () => {
    client ??= import('./scratch.js').then(({ connect }) => connect(url))
    return Number((await (await client).query(text)).rows[0].n)
  }
}
