import { Spillway } from 'spillway'
import { afterAll, expect, it } from 'vitest'
import { finished, hurry } from '../support/settling-down.js'
import { describeStore } from '../support/store.js'
import { workerProcesses } from '../support/worker-process.js'

const JOBS = 60

describeStore('attempts over many processes', ({ url, checker }) => {
  const spillway = new Spillway({ url })
  const workers = workerProcesses()
  afterAll(() => spillway.close())

  it('are counted with the job: five processes start one of three attempts three times', async () => {
    const settings = { url, concurrency: 2 }
    await Promise.all(Array.from({ length: 5 }, () => workers.start(settings)))
    const calledOff = hurry(url)

    const entries = Array.from({ length: JOBS }, () => ({ payload: { do: 'fail', wait: 5 }, maxAttempts: 3 }))
    const ids = (await spillway.enqueueMany('work', entries)).map(({ id }) => id)
    const census = await finished(checker)
    await calledOff()

    expect(census).toEqual({ archived: JOBS })
    const starts = workers.noted().filter(({ what }) => what === 'start')
    expect(ids.map((id) => starts.filter((start) => start.id === id).length)).toEqual(ids.map(() => 3))
    expect(new Set(starts.map(({ pid }) => pid)).size).toBe(5)
    const dead = await spillway.dlq.get(ids[0] as string)
    expect(dead).toMatchObject({ attempt: 3, crashAttempt: 0 })
    expect(dead?.history?.map(({ type, attempt }) => [type, attempt])).toEqual([
      ['error', 0],
      ['error', 1],
      ['error', 2],
    ])
    await workers.killAll()
  })
})
