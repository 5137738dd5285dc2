import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Job, type JobState, Spillway } from 'spillway'
import type { JobSeed } from 'spillway/testing'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { LIFECYCLE, type Transition } from '../../src/job/lifecycle.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

const OPERATOR = fileURLToPath(new URL('../support/operator-program.mjs', import.meta.url))
const ago = (ms: number) => new Date(Date.now() - ms)
const ahead = (ms: number) => new Date(Date.now() + ms)

/** Who writes the death, and is killed right after its commit. */
type Writer =
  /** A worker process: of an attempt, or in one of its duties. */
  | { readonly by: 'worker'; readonly job: JobSeed }
  /** A process that does this to the job. */
  | { readonly by: 'operator'; readonly job: JobSeed; readonly action: string; readonly args: (job: Job) => unknown[] }

const worker = (job: JobSeed): Writer => ({ by: 'worker', job: { kind: 'work', maxAttempts: 1, ...job } })
const operator = (action: string, job: JobSeed, args = (it: Job): unknown[] => [it.id]): Writer => {
  return { by: 'operator', action, job: { kind: 'work', ...job }, args }
}
const late = (state: JobState) => worker({ state, deadline: ago(1_000), ...(state === 'waiting' ? {} : later) })
const later = { dueAt: ahead(3_600_000) }
const kill = (state: JobState) => operator('jobs.kill', { state })
const TOKEN = 'the token of the callback'

/** Every way into the dead letters, by its state and event in the table of transitions. */
const WAYS: Readonly<Record<string, Writer>> = {
  'running exhaust': worker({ payload: { do: 'fail' } }),
  'running skip': worker({ payload: { do: 'skip' } }),
  'available no_handler': worker({ kind: 'nobody knows', runAt: ago(60_000) }),
  'waiting callback_exhaust': operator(
    'callbacks.fail',
    { state: 'waiting', maxAttempts: 1, callbackToken: TOKEN },
    () => [TOKEN, 'declined'],
  ),
  'waiting callback_timeout_exhaust': worker({ state: 'waiting', waitsUntil: ago(1_000) }),
  'scheduled deadline': late('scheduled'),
  'retryable deadline': late('retryable'),
  'available deadline': worker({ deadline: ago(1_000) }),
  'running deadline': worker({ payload: { do: 'hold' }, deadline: ahead(3_000) }),
  'waiting deadline': late('waiting'),
  'scheduled kill': kill('scheduled'),
  'retryable kill': kill('retryable'),
  'available kill': kill('available'),
  'waiting kill': kill('waiting'),
  'quarantined kill': kill('quarantined'),
  'undecodable kill': kill('undecodable'),
  'failed move': operator('dlq.move', { state: 'failed' }),
}

/** These bring a dead letter back that has died before, and have events of their own. */
const NO_DEATHS = ['import', 'restore']

describe('the ways into the dead letters', () => {
  it('are those of the table of transitions', () => {
    const rows: readonly Transition[] = LIFECYCLE
    const ways = rows
      .filter(({ to, event }) => to === 'archived' && !NO_DEATHS.includes(event))
      .flatMap(({ from, event }) => from.map((state) => `${state} ${event}`))

    expect(Object.keys(WAYS).sort()).toEqual(ways.sort())
  })
})

describeStore('a process that is killed right after it has written a death', ({ store, given, url }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  afterEach(() => workers.killAll())
  afterAll(() => spillway.close())

  /** Resolves with what ended it. */
  const runs = async (writer: Writer, job: Job): Promise<unknown> => {
    if (writer.by === 'worker') {
      const options = { url, dieOnDeath: true, concurrency: 1, heartbeat: 500, poll: 100 }
      return workers.spawn(options).exited
    }
    const child = fork(OPERATOR, [JSON.stringify([url, writer.action, writer.args(job)])])
    return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
  }

  it.each(Object.entries(WAYS))('leaves one event of it in the log: %s', async (_, writer) => {
    await spillway.queues.set('default', { noHandlerAfterMs: 1_000 })
    const job = await given.job(writer.job)

    expect(await runs(writer, job)).toBe('SIGKILL')

    await until(async () => (await spillway.events.list()).items.length > 0)
    const { items } = await spillway.events.list()
    const dead = await store.getJob(job.id)
    expect(dead?.state).toBe('archived')
    expect(items.map(({ type, jobId, reason, cause }) => ({ type, jobId, reason, cause }))).toEqual([
      { type: 'died', jobId: job.id, reason: dead?.dlq?.reason, cause: dead?.dlq?.cause },
    ])
  })
})
