import { Spillway } from 'spillway'
import { afterAll, afterEach, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { POISONS } from '../support/crashing.js'
import { until } from '../support/patience.js'
import { hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

describeStore('a healthy job whose process dies', ({ url, db, checker }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  const settings = { url, concurrency: 20, heartbeat: 500, stale: 1_500, announce: true }
  afterEach(() => workers.killAll())
  afterAll(() => spillway.close())

  const crashes = () =>
    db.run(sql<[], [jobId: string, alone: string]>`select job_id, alone from spillway.crashes order by id`, [])
  const tick = async (queue = 'default') => (await spillway.enqueue('work', { do: 'hold' }, { queue })).id
  const isDone = (id: string) => until(async () => (await spillway.jobs.get(id))?.state === 'completed')

  it.each(POISONS)('with another that %s, three times, is never convicted', async (_, poison, own) => {
    const calledOff = hurry(url)
    const ticks: string[] = []
    for (let round = 0; round < 3; round++) {
      const worker = await workers.start({ ...settings, ...own })
      const id = await tick()
      ticks.push(id)
      expect(await worker.started.next()).toBe(id)
      const killer = await spillway.enqueue('work', { ...poison, round })
      expect(await worker.exited).not.toBe(0)
      await spillway.jobs.cancel(killer.id)

      // It has the next worker for itself, and the time to show that it is harmless.
      const next = await workers.start(settings)
      next.release(await next.started.next())
      await isDone(id)
      await next.kill('SIGTERM')
    }
    await calledOff()

    const hits = (await crashes()).filter(([id]) => ticks.includes(id))
    expect(hits.map(([id, alone]) => [id, alone])).toEqual(ticks.map((id) => [id, 'f']))
    expect((await spillway.quarantine.list()).items).toEqual([])
  })

  it('in company twice without a success in between runs alone the third time, and is not convicted', async () => {
    const calledOff = hurry(url)
    const id = await tick()
    for (let round = 0; round < 2; round++) {
      const worker = await workers.start(settings)
      expect(await worker.started.next()).toBe(id)
      // In the second round this one is let in when the suspect has lived for 10 s.
      const killer = await spillway.enqueue('work', { do: 'die', round })
      expect(await worker.exited).toBe('SIGKILL')
      await spillway.jobs.cancel(killer.id)
    }
    const last = await workers.start(settings)
    expect(await last.started.next()).toBe(id)
    const other = await spillway.enqueue('work', { do: 'ok' })
    last.release(id)
    await isDone(id)
    await isDone(other.id)
    await calledOff()

    expect((await crashes()).filter(([job]) => job === id)).toEqual([
      [id, 'f'],
      [id, 'f'],
    ])
    expect((await spillway.quarantine.list()).items).toEqual([])
  })

  it('with what another worker of the process ran was in company: three times, and neither is convicted', async () => {
    const calledOff = hurry(url)
    const ids = [await tick(), await tick('default-twin')]
    for (let round = 0; round < 3; round++) {
      const worker = await workers.start({ ...settings, twin: true })
      const started = [await worker.started.next(), await worker.started.next()]
      expect(started.sort()).toEqual([...ids].sort())
      await worker.kill('SIGKILL')
    }
    const last = await workers.start({ ...settings, twin: true })
    for (const _ of ids) last.release(await last.started.next())
    for (const id of ids) await isDone(id)
    await calledOff()

    expect((await crashes()).map(([, alone]) => alone)).toEqual(Array(6).fill('f'))
    expect((await spillway.quarantine.list()).items).toEqual([])
    await checker.expectExactly(ids)
  })
})
