import { randomInt } from 'node:crypto'
import { Spillway } from 'spillway'
import { afterAll, afterEach, expect, it } from 'vitest'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { type WorkerProcess, workerProcesses } from '../support/worker-process.js'

describeStore('a worker process that is told to stop', ({ url, checker, db }) => {
  const workers = workerProcesses()
  const spillway = new Spillway({ url })
  afterEach(() => workers.killAll())
  afterAll(() => spillway.close())

  const settings = { url, concurrency: 20, heartbeat: 500, grace: 100, abort: 200 }

  it('loses nothing and charges nobody, at whatever moment it is told', async () => {
    const ids: string[] = []
    let next: Promise<WorkerProcess> = workers.start(settings)

    for (let round = 0; round < effort.terms; round++) {
      const worker = await next
      // The next one gets up meanwhile, as in a rolling deploy.
      next = workers.start(settings)
      const entries = Array.from({ length: 40 }, (_, n) => ({
        payload: n === 0 ? { do: 'hold' } : { do: 'ok', wait: n % 3 },
      }))
      ids.push(...(await spillway.enqueueMany('work', entries)).map(({ id }) => id))
      await new Promise((resolve) => setTimeout(resolve, randomInt(0, 300)))
      await worker.kill('SIGTERM')
      expect(await worker.exited).toBe(0)
      // One is handed back in every round, and ten in a row would park it.
      await db.transaction((tx) =>
        tx.execute('update spillway.ready_entries set handbacks = 0; update spillway.leases set handbacks = 0'),
      )
    }
    const last = await next
    await last.kill('SIGTERM')

    const account = await checker.expectExactly(ids)
    expect(account.left).toBe(0)
    expect(Object.keys(await checker.census()).sort()).toEqual(expect.arrayContaining(['available', 'completed']))
    const charged = await db.runRaw<[], [string]>(
      {
        name: 'charged',
        text: `select count(*) from (select attempt + crash_attempt as n from spillway.ready_entries
                union all select attempt + crash_attempt from spillway.terminal_entries
                union all select attempt + crash_attempt from spillway.deferred_jobs
                union all select attempt + crash_attempt from spillway.held_entries) as job where n > 0`,
      },
      [],
    )
    expect(charged).toEqual([['0']])
    expect(await checker.census()).not.toHaveProperty('running')
    expect(await checker.census()).not.toHaveProperty('retryable')
  })

  it('lets the last attempt of a job run again when the stop interrupts it', async () => {
    const worker = await workers.start({ ...settings, announce: true })
    const { id } = await spillway.enqueue('work', { do: 'hold' }, { maxAttempts: 1 })
    await worker.started.next()

    await worker.kill('SIGTERM')

    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'available', attempt: 0, crashAttempt: 0, handbacks: 1 })
  })

  it('gives a handler the time to end by itself', async () => {
    const worker = await workers.start({ ...settings, announce: true, grace: 5_000 })
    const { id } = await spillway.enqueue('work', { do: 'holdOn' })
    await worker.started.next()

    const stopped = worker.kill('SIGTERM')
    worker.release(id)
    await stopped

    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'completed', runLease: 1 })
  })

  it('killed after its grace, returns its jobs uncharged once the process is gone', async () => {
    const worker = await workers.start({ ...settings, announce: true, grace: 60_000 })
    const { id } = await spillway.enqueue('work', { do: 'holdOn' })
    await worker.started.next()
    void worker.kill('SIGTERM')
    await until(async () => (await spillway.workers.list())[0]?.state === 'stopping')
    await worker.kill('SIGKILL')

    const next = await workers.start({ ...settings, announce: true })

    expect(await next.started.next()).toBe(id)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'running', attempt: 0, crashAttempt: 0, handbacks: 1 })
  })
})
