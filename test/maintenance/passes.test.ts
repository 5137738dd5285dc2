import { until } from 'spillway/testing'
import { expect, it, onTestFinished } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import type { Notice } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const DAY = 86_400_000
const POLICY: Notice = { type: 'policy' }
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('retention under a leader that runs', ({ store, given, clock }) => {
  it('ends what has come of age since its last pass, pass after pass, on a store where nothing else happens', async () => {
    const ages = [25, 20, 15, 1]
    const dead = await Promise.all(
      ages.map((days) => given.job({ state: 'archived', dlqAt: ago(days * DAY), retainFrom: ago(days * DAY) })),
    )
    const done = await given.job({ state: 'completed' })
    const left = async () => (await Promise.all(dead.map(({ id }) => store.getJob(id)))).filter(Boolean).length
    const maintenance = new Maintenance(store, { staleMs: 45_000 })
    onTestFinished(() => maintenance.stop())
    await maintenance.start()
    await until(async () =>
      (await store.duties()).every(({ duty, lastSuccessAt }) => !SWEEPS.test(duty) || lastSuccessAt),
    )

    const seen = [await left()]
    for (const days of [6, 5, 5]) {
      await clock.advance(days * DAY)
      const wanted = seen.at(-1)! - 1
      // What wakes the duty before its minute is over; the pass is the one that would come by itself.
      maintenance.heard(POLICY)
      await until(async () => (await left()) === wanted, { within: '5s', what: `${wanted} dead letters` })
      maintenance.heard(POLICY)
      await maintenance.runOnce('retain_dlq')
      seen.push(await left())
    }

    expect(seen).toEqual([4, 3, 2, 1])
    expect(await store.getJob(done.id)).toBeUndefined()
  })
})

const SWEEPS = /^retain/
