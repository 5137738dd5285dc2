import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Spillway } from 'spillway'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { type DatabaseProxy, startProxy } from '../support/proxy.js'
import { onServer } from '../support/server.js'
import { finished, hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

describeStore('a worker process whose connections break', ({ url, checker }) => {
  const workers = workerProcesses()
  const spillway = new Spillway({ url })
  const folder = mkdtempSync(join(tmpdir(), 'spillway-blocked-'))
  let proxy: DatabaseProxy

  beforeAll(async () => {
    proxy = await startProxy(url)
  })
  afterEach(async () => {
    proxy.comeBack()
    await workers.killAll()
  })
  afterAll(async () => {
    await spillway.close()
    await proxy.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Every connection to the database but the one that asks. */
  const terminateAll = () =>
    onServer(url, async (client) => {
      const { rows } = await client.query<{ gone: boolean }>(
        `select pg_terminate_backend(pid) as gone from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
      )
      return rows.length
    })
  const enqueue = async (count: number, payload: object) =>
    (
      await spillway.enqueueMany(
        'work',
        Array.from({ length: count }, () => ({ payload })),
      )
    ).map(({ id }) => id)

  it('outlives the end of all its backends while it is idle', async () => {
    const worker = await workers.start({ url })

    for (let round = 0; round < 3; round++) {
      expect(await terminateAll()).toBeGreaterThan(0)
      const ids = await enqueue(5, { do: 'ok' })
      await until(async () => (await spillway.jobs.get(ids[4] as string))?.state === 'completed')
    }

    expect(worker.isAlive).toBe(true)
    expect(worker.stderr()).toBe('')
  })

  it('outlives the end of all its backends while it is busy, and loses nothing', async () => {
    const worker = await workers.start({ url, concurrency: 50, heartbeat: 500 })
    const calledOff = hurry(url)
    const ids = await enqueue(2_000, { do: 'ok', wait: 20 })
    // The checker's own connections are ended too: it may have to ask again.
    const completed = async () => {
      const census = await checker.census().catch(() => checker.census())
      return census['completed'] ?? 0
    }

    for (let round = 0; round < 5; round++) {
      await terminateAll()
      const seen = await completed()
      await until(async () => {
        const now = await completed()
        return now > seen || now === 2_000
      })
    }
    const census = await finished(checker)
    await calledOff()

    expect(census).toEqual({ completed: 2_000 })
    await checker.expectExactly(ids)
    expect(worker.isAlive).toBe(true)
  })

  it('charges nobody while the database is away for longer than a stale time, and writes what ended meanwhile', async () => {
    const { forMs, asleepMs, ...beats } = effort.away
    const settings = { url: proxy.url, ...beats, announce: true, concurrency: 1 }
    const both = await Promise.all([workers.start(settings), workers.start(settings)])
    const ids = await enqueue(2, { do: 'holdOn' })
    await until(() => both.every((worker) => worker.started.count === 1))

    proxy.goAway()
    for (const worker of both) for (const id of ids) worker.release(id)
    await until(() => workers.noted().filter(({ what }) => what === 'end').length === 2)
    await pause(forMs)
    // The worker that started first leads; the other one has not said anything for longer than a stale time.
    if (asleepMs > 0) await both[1].kill('SIGSTOP')
    proxy.comeBack()
    if (asleepMs > 0) await pause(asleepMs)
    await both[1].kill('SIGCONT')
    await finished(checker)

    for (const id of ids) {
      expect(await spillway.jobs.get(id)).toMatchObject({
        state: 'completed',
        attempt: 0,
        crashAttempt: 0,
        runLease: 1,
      })
    }
    expect(workers.noted().filter(({ what }) => what === 'start')).toHaveLength(2)
    expect(both.map((worker) => worker.isAlive)).toEqual([true, true])
  }, 600_000)

  it('aborts and is refused, when its jobs were taken back while it alone was cut off', async () => {
    const cutOff = await workers.start({ url: proxy.url, heartbeat: 200, stale: 600, announce: true })
    const [id] = await enqueue(1, { do: 'holdOn' })
    await cutOff.started.next()

    // The others keep on writing, so silence means something.
    const other = await workers.start({ url, heartbeat: 200, stale: 600 })
    await pause(700)
    proxy.goAway()
    const taken = await until(async () => {
      const job = await spillway.jobs.get(id as string)
      return job?.state === 'retryable' && job
    })
    cutOff.release(id as string)
    proxy.comeBack()

    expect(await cutOff.lost.next()).toBe(id)
    expect(taken).toMatchObject({ crashAttempt: 1 })
    expect((await spillway.jobs.get(id as string))?.state).not.toBe('completed')
    expect([cutOff.isAlive, other.isAlive]).toEqual([true, true])
  })

  it('is refused when it was stopped for so long that its job runs elsewhere', async () => {
    const asleep = await workers.start({ url, heartbeat: 200, stale: 600, announce: true, concurrency: 1 })
    const [id] = await enqueue(1, { do: 'holdOn' })
    await asleep.started.next()
    const calledOff = hurry(url)
    await asleep.kill('SIGSTOP')

    const awake = await workers.start({ url, heartbeat: 200, stale: 600, announce: true, concurrency: 1 })
    expect(await awake.started.next({ within: '30s' })).toBe(id)
    asleep.release(id as string)
    await asleep.kill('SIGCONT')

    expect(await asleep.lost.next()).toBe(id)
    expect(await spillway.jobs.get(id as string)).toMatchObject({ state: 'running' })
    // It says that it lives, so nothing was a crash.
    await until(async () => (await spillway.jobs.get(id as string))?.crashAttempt === 0)
    awake.release(id as string)
    await finished(checker)
    expect(await spillway.jobs.get(id as string)).toMatchObject({ state: 'completed' })
    await calledOff()
  })

  it('is refused when its event loop was blocked for twice the stale time, and its job runs elsewhere', async () => {
    const staleMs = 600
    const end = join(folder, 'enough')
    const busy = await workers.start({ url, heartbeat: 200, stale: staleMs, announce: true, concurrency: 1 })
    const [id] = await enqueue(1, { do: 'block', until: end })
    await busy.started.next()
    const blockedAt = performance.now()
    const calledOff = hurry(url)

    const free = await workers.start({ url, heartbeat: 200, stale: staleMs, announce: true, concurrency: 1 })
    expect(await free.started.next()).toBe(id)
    await until(() => performance.now() - blockedAt > 2 * staleMs)
    const meanwhile = await spillway.jobs.get(id as string)
    writeFileSync(end, '')

    expect(await busy.lost.next()).toBe(id)
    expect(await spillway.jobs.get(id as string)).toMatchObject({ state: 'running', leaseId: meanwhile?.leaseId })
    // It says that it lives, so nothing was a crash.
    await until(async () => (await spillway.jobs.get(id as string))?.crashAttempt === 0)
    free.release(id as string)
    expect(await finished(checker)).toEqual({ completed: 1 })
    await calledOff()
    // The first one came to its end, too: nobody took its word for it.
    expect(workers.noted().map(({ what, pid }) => [what, pid])).toEqual([
      ['start', busy.pid],
      ['start', free.pid],
      ['end', busy.pid],
      ['end', free.pid],
    ])
  })

  it('runs a job for ten times its stale time once, as long as it says that it is alive', async () => {
    const worker = await workers.start({ url, heartbeat: 100, stale: 300, announce: true })
    const watcher = await workers.start({ url, heartbeat: 100, stale: 300, announce: true })
    const [id] = await enqueue(1, { do: 'holdOn' })
    await until(() => worker.started.count + watcher.started.count === 1)

    await pause(3_000)
    for (const it of [worker, watcher]) it.release(id as string)
    await finished(checker)

    expect(await spillway.jobs.get(id as string)).toMatchObject({ state: 'completed', runLease: 1, crashAttempt: 0 })
  })
})
