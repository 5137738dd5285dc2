// A worker in a process of its own, to be killed. Runs what was built, as users do.
// Argument: the options of startWorker (worker-process.ts), as JSON.
import { existsSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, retryAfter, revoke, Spillway, skip, snooze } from '../../dist/index.js'

const { url, queue, concurrency, heartbeat, stale, poll, log, announce, grace, abort, cluster, dieOnDeath, twin } =
  JSON.parse(process.argv[2])

// Written before the handler does anything, and by the system once it is written: a SIGKILL cannot take it back.
const file = openSync(log, 'a')
const note = (what, job) => writeSync(file, `${what} ${job.id} ${job.leaseId} ${process.pid}\n`)
const tell = (message) => process.connected && process.send(message)

const released = new Map()
process.on('message', ({ type, id }) => {
  if (type === 'release') released.get(id)?.()
  if (type === 'term') process.kill(process.pid, 'SIGTERM')
})

/** What a payload may ask for; the tests decide, not the program. */
const ACTIONS = {
  ok: () => undefined,
  fail: (_, { job }) => {
    throw new Error(`failure ${job.attempt + 1}`)
  },
  failFirst: ({ times = 1 }, { job }) => {
    if (job.attempt < times) throw new Error(`failure ${job.attempt + 1}`)
  },
  retryAfter: ({ ms, times = 1 }, { job }) => (job.attempt < times ? retryAfter(ms, new Error('not yet')) : undefined),
  skip: () => skip('not_wanted'),
  revoke: () => revoke(),
  snooze: ({ ms = 1 }, { job }) => (job.runLease < 2 ? snooze(ms) : undefined),
  die: () => process.kill(process.pid, 'SIGKILL'),
  exit: () => process.exit(1),
  /** Waits for an answer; may be killed when it has asked for it and not yet begun to wait. */
  ask: async ({ die }, context) => {
    const callback = await context.callback('approval')
    writeSync(file, `token ${context.job.id} ${callback.token} ${process.pid}\n`)
    if (die && context.job.crashAttempt === 0) process.kill(process.pid, 'SIGKILL')
    return callback.result()
  },
  abort: () => process.abort(),
  /** Until the process has no memory left. */
  hoard: () => {
    const kept = []
    for (;;) kept.push(new Array(100_000).fill(kept.length))
  },
  /** In its first run the whole process does nothing else until a file is there; then it ends as if nothing had been. */
  block: ({ until }, context) => {
    if (context.job.runLease > 1) return ACTIONS.holdOn({}, context)
    while (!existsSync(until));
  },
  /** Until the test says so; ends at once when told to stop. */
  hold: (_, { job, signal }) =>
    new Promise((resolve, reject) => {
      released.set(job.id, resolve)
      signal.addEventListener('abort', () => reject(new Error('told to end', { cause: signal.reason })), { once: true })
    }),
  /** Until the test says so, whatever the signal says. */
  holdOn: (_, { job }) => new Promise((resolve) => released.set(job.id, resolve)),
}

const work = defineJob({ kind: 'work', queue, backoff: () => 20, maxAttempts: 5 })
const spillway = new Spillway({ url, ...(cluster ?? {}) })
spillway.on?.('error', () => {})
const settings = (name) => ({
  queues: { [name]: { concurrency } },
  heartbeat,
  stale,
  ...(poll !== undefined && { poll }),
  // Right after the commit, before anybody could be told of it; of sweeps, too.
  ...(dieOnDeath && { onDeath: [() => process.kill(process.pid, 'SIGKILL')] }),
  jobs: [
    work.handle(async (payload, context) => {
      note('start', context.job)
      if (announce) tell({ type: 'started', id: context.job.id })
      if (payload.wait) await sleep(Math.random() * payload.wait)
      if (payload.after) await sleep(payload.after)
      const outcome = await ACTIONS[payload.do ?? 'ok'](payload, context)
      note('end', context.job)
      return outcome
    }),
  ],
})
const worker = spillway.worker(settings(queue))
/** Another one in the same process. */
const second = twin ? spillway.worker(settings(`${queue}-twin`)) : undefined
second?.on('error', () => {})
worker.on('lost', ({ job }) => tell({ type: 'lost', id: job.id }))
worker.on('error', ({ service, error }) => tell({ type: 'trouble', id: `${service}: ${error?.message ?? error}` }))
worker.on('registered', ({ registration }) => tell({ type: 'registered', id: registration }))

let stopping = false
const stop = async () => {
  if (stopping) return
  stopping = true
  tell({ type: 'stopping' })
  await Promise.all([worker.stop({ grace, abort }), second?.stop({ grace, abort })])
  await spillway.close()
  process.exit(0)
}
process.on('SIGTERM', () => void stop())
// The test has ended, or was killed: nobody is left to stop this process.
process.on('disconnect', () => process.exit(2))

await worker.start()
await second?.start()
tell({ type: 'ready' })
