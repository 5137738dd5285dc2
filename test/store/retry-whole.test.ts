import { expect, it } from 'vitest'
import type { Store, StoreInTransaction } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann', reason: 'fixed it' }
const FRESH = { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false } as const

describeStore('a retry inside a transaction', ({ store, given, checker }) => {
  const acts = {
    'of one': (on: StoreInTransaction, id: string) => on.retryJob(id, FRESH, act),
    'of named ones': (on: StoreInTransaction, id: string) =>
      on.actOnIds([id], { ...BULK, selector: { ids: [id] } }, act),
  }

  it.each(Object.entries(acts))(
    '%s takes the dead letter away at the moment it puts the job to work',
    async (_, retry) => {
      const { id } = await given.job({ state: 'archived', tags: ['t'], uniqueKey: 'k' })
      let before: object = {}

      await inOne(store, async (tx) => {
        await retry(tx, id)
        before = { census: await checker.census(), depth: (await store.dlqDepth()).total }
        await checker.expectClean()
      })

      expect(before).toEqual({ census: { archived: 1 }, depth: 1 })
      expect(await checker.census()).toEqual({ available: 1 })
      expect(await store.dlqDepth()).toEqual({ total: 0, queues: [] })
    },
  )

  it.each(Object.entries(acts))('%s leaves the dead letter as it was when that is rolled back', async (_, retry) => {
    const dead = await given.job({ state: 'archived', tags: ['t'], uniqueKey: 'k' })

    const failed = inOne(store, async (tx) => {
      await retry(tx, dead.id)
      throw new Error('second thoughts')
    })

    await expect(failed).rejects.toThrow('second thoughts')
    expect(await store.getJob(dead.id, { payload: true })).toEqual(dead)
    expect(await checker.census()).toEqual({ archived: 1 })
    expect((await store.listAudit({}, { limit: 9 })).items).toEqual([])
  })
})

const BULK = {
  action: 'retry',
  retry: FRESH,
  dryRun: false,
  rate: null,
  maxWaiting: 0,
  canary: null,
  abortAbove: 0,
  holdMs: 0,
  preview: null,
} as const

let keys = 0

/** What the store offers for several effects in one transaction: a request with a name. */
async function inOne(store: Store, work: (tx: StoreInTransaction) => Promise<void>): Promise<void> {
  const request = { actor: 'ann', method: 'TEST', path: '/', key: `k${++keys}`, requestHash: 'h' }
  await store.idempotent(request, async (tx) => {
    await work(tx)
    return { status: 200, answer: '{}' }
  })
}
