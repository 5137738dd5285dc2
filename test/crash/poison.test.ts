import { Spillway } from 'spillway'
import { afterAll, afterEach, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { POISONS, STALE_MS } from '../support/crashing.js'
import { effort } from '../support/effort.js'
import { until } from '../support/patience.js'
import { finished, hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { type WorkerProcess, type WorkerProcessOptions, workerProcesses } from '../support/worker-process.js'

const CRASH_LIMIT = 3
const NEIGHBOURS = 10
const LEADERS = effort.terms < 100 ? 5 : 20

describeStore('a job that kills its worker', ({ url, store, checker, clock, db, inTransaction }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  const settings = { url, concurrency: 20, heartbeat: 500, stale: 1_500 }
  afterEach(() => workers.killAll())
  afterAll(() => spillway.close())

  /** A worker that is started again whenever it has died, as a supervisor does. */
  function supervised(options: WorkerProcessOptions): {
    stop(): void
    readonly died: number
    current(): WorkerProcess
  } {
    let current = workers.spawn(options)
    let died = 0
    let going = true
    const watch = () => {
      void current.exited.then(() => {
        if (!going) return
        died++
        current = workers.spawn(options)
        watch()
      })
    }
    watch()
    return {
      stop: () => {
        going = false
      },
      get died() {
        return died
      },
      current: () => current,
    }
  }

  const starts = (id: string) => workers.noted().filter((it) => it.what === 'start' && it.id === id).length
  const crashes = () =>
    db.run(sql<[], [jobId: string, alone: string]>`select job_id, alone from spillway.crashes order by id`, [])

  const openCrashes = async () =>
    (await db.run(sql<[], []>`select from spillway.crashes where closed_at is null`, [])).length

  it.each(POISONS)(
    'and %s is held after three crashes, the last one alone; ten neighbours of its process finish',
    async (_, poison, own) => {
      const [bad, ...good] = await spillway.enqueueMany('work', [
        { payload: { ...poison, after: 100 } },
        ...Array.from({ length: NEIGHBOURS }, (_, n) => ({ payload: { do: 'ok', after: 300, n } })),
      ])
      const calledOff = hurry(url)
      const supervisor = supervised({ ...settings, ...own })

      const census = await finished(checker)
      await calledOff()
      supervisor.stop()

      expect(census).toEqual({ quarantined: 1, completed: NEIGHBOURS })
      expect(starts(bad!.id)).toBe(CRASH_LIMIT)
      expect(await spillway.jobs.get(bad!.id)).toMatchObject({
        state: 'quarantined',
        attempt: 0,
        crashAttempt: CRASH_LIMIT,
      })
      const [held] = (await spillway.quarantine.list()).items
      expect(held).toMatchObject({ kind: 'work', held: 1, crashes: CRASH_LIMIT, convicted: true })
      const shown = await spillway.quarantine.get(held!.fingerprint, { payload: true })
      expect(shown?.crashLog[0]).toMatchObject({ jobId: bad!.id, alone: true, counted: true })
      expect(shown?.payloadText).toBe(JSON.stringify({ ...poison, after: 100 }))
      // Each neighbour was hit once, by the first crash, and never again.
      const hits = (await crashes()).filter(([id]) => good.some((it) => it.id === id))
      expect(new Set(hits.map(([id]) => id)).size).toBe(hits.length)
      expect(hits.every(([, alone]) => alone === 'f')).toBe(true)
    },
  )

  it.each(POISONS)(
    'and %s shares its fate with the jobs of its fingerprint: five of them kill three workers, not fifteen',
    async (_, payload, own) => {
      const five = await spillway.enqueueMany(
        'work',
        Array.from({ length: 5 }, () => ({ payload })),
      )
      const calledOff = hurry(url)
      const supervisor = supervised({ ...settings, ...own, concurrency: 1 })

      const census = await finished(checker)
      await calledOff()
      supervisor.stop()

      expect(census).toEqual({ quarantined: 5 })
      expect(five.reduce((sum, { id }) => sum + starts(id), 0)).toBe(CRASH_LIMIT)
      expect((await spillway.quarantine.list()).items).toMatchObject([{ held: 5, crashes: CRASH_LIMIT }])
      await checker.expectExactly(five.map(({ id }) => id))
    },
  )

  it('is told from one whose worker only slept, however often', async () => {
    const napping = { ...settings, heartbeat: 200, stale: 600, concurrency: 1, announce: true }
    const calledOff = hurry(url)
    let busy = await workers.start(napping)
    const { id } = await spillway.enqueue('work', { do: 'holdOn' })
    await busy.started.next()
    let free = await workers.start(napping)
    for (let nap = 0; nap < 4; nap++) {
      await busy.kill('SIGSTOP')
      await free.started.next()
      busy.release(id)
      await busy.kill('SIGCONT')
      await busy.lost.next()
      await until(async () => (await openCrashes()) === 0)
      const awake = busy
      busy = free
      free = awake
    }
    busy.release(id)
    await finished(checker)
    await calledOff()

    expect(await crashes()).toHaveLength(4)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'completed', attempt: 0, crashAttempt: 0 })
    expect((await spillway.quarantine.list()).items).toEqual([])
  })

  it('leaves the house in order though the leader of the maintenance is killed in the middle of a pass, again and again', async () => {
    const short = { ...settings, heartbeat: 200, stale: 2_000 }
    let leader = await workers.start(short)
    for (let kill = 0; kill < LEADERS; kill++) {
      const next = await workers.start(short)
      // The pass of the rescue waits in the middle of its work for a row that is held here.
      await inTransaction(async (tx) => {
        await tx.run(sql<[], []>`select from spillway.leaders where name = 'rescue' for update`, [])
        await someoneWaits(url)
        await leader.kill('SIGKILL')
      })
      const { id } = await spillway.enqueue('work', { do: 'ok' }, { delay: '100ms' })
      await until(async () => (await spillway.jobs.get(id))?.state === 'completed')
      leader = next
    }

    expect((await spillway.jobs.counts()).completed).toBe(LEADERS)
  })

  it('is not started again by anything once it is held', async () => {
    const { id } = await spillway.enqueue('work', { do: 'die' })
    const calledOff = hurry(url)
    const supervisor = supervised({ ...settings, concurrency: 1 })
    await finished(checker)
    await calledOff()
    supervisor.stop()
    if (!supervisor.current().isAlive) await workers.start(settings)

    await clock.advance('24h')
    for (let n = 0; n < 100; n++) {
      await store.promote(1_000)
      await store.rescue(STALE_MS, CRASH_LIMIT)
      await store.expireDeadlines(1_000)
      await store.turnRings()
      await store.fold(1_000)
      await store.retain(1_000)
      await store.preparePartitions()
    }
    await until(async () => (await spillway.jobs.counts()).running === 0)

    expect(starts(id)).toBe(CRASH_LIMIT)
    expect(await spillway.jobs.get(id)).toMatchObject({ state: 'quarantined' })
  })

  it('runs again when it was mended and released, with no crash counted against it', async () => {
    const { id } = await spillway.enqueue('work', { do: 'die' })
    const calledOff = hurry(url)
    const supervisor = supervised({ ...settings, concurrency: 1 })
    await finished(checker)
    await calledOff()
    supervisor.stop()
    await workers.killAll()
    const [held] = (await spillway.quarantine.list()).items

    await spillway.quarantine.release(held!.fingerprint)
    const released = await spillway.jobs.get(id)
    const worker = workers.spawn(settings)
    await worker.exited

    expect(released).toMatchObject({ state: 'available', crashAttempt: 0 })
    expect(starts(id)).toBe(1)
  })
})
