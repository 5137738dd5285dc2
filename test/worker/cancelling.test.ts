import { defineJob, Spillway } from 'spillway'
import { afterAll, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

describeStore('a job that is cancelled while it runs', ({ db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const stillRuns = sql<[], [running: string]>`select handler_running from spillway.terminal_entries`

  it('is shown with its handler running until that has ended', async () => {
    const kind = defineJob({ kind: 'hold' })
    let release = () => {}
    const told = new Promise<string>((resolve) => {
      release = () => resolve('released')
    })
    let aborted = false
    const worker = spillway.worker({
      queues: { default: {} },
      jobs: [
        kind.handle(async (_, { signal }) => {
          signal.addEventListener('abort', () => {
            aborted = true
          })
          await told
        }),
      ],
    })
    await worker.start()
    const { id } = await spillway.enqueue(kind, {})
    await until(async () => (await spillway.jobs.get(id))?.state === 'running')

    await spillway.jobs.cancel(id)
    await until(() => aborted)
    const before = await db.run(stillRuns, [])
    release()
    await until(async () => (await db.run(stillRuns, []))[0]?.[0] === 'f')

    expect(before).toEqual([['t']])
    await worker.stop()
  })
})
