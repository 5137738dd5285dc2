import { expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { IdempotentRequest, NewJob } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const act = { actor: 'ann', reason: 'a test', requestId: 'r1' }
const request = (over: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  actor: 'ann',
  method: 'POST',
  path: '/jobs/1/cancel',
  key: 'k1',
  requestHash: 'h1',
  ...over,
})
const job = (over: Partial<NewJob> = {}): NewJob => ({
  ...{ queue: 'q', kind: 'k', version: 1, payload: '1', priority: 50, maxAttempts: 3, onConflict: 'fail', tags: null },
  ...{ runAt: null, deadline: null, timeoutMs: null, uniqueKey: null, metadata: null, retention: null },
  ...over,
})
const audits = sql<[], string[]>`select count(*) from spillway.audit_log`
const keys = sql<[], string[]>`select key, status from spillway.idempotency_keys`

describeStore('a request under a key', ({ store, given, db, inTransaction }) => {
  it('is done once, and answered again byte for byte', async () => {
    const { id } = await given.job()
    const cancel = () =>
      store.idempotent(request(), async (inside) => {
        await inside.cancelJob(id, act)
        return { status: 201, answer: '{"id": 9007199254740993, "n":1.10}' }
      })

    const first = await cancel()
    const second = await cancel()

    expect(first).toEqual({ status: 201, answer: '{"id": 9007199254740993, "n":1.10}', replayed: false })
    expect(second).toEqual({ ...first, replayed: true })
    expect(await db.run(audits, [])).toEqual([['1']])
    expect(await store.getJob(id)).toMatchObject({ state: 'cancelled' })
  })

  it('with another body is refused', async () => {
    await store.idempotent(request(), async () => ({ status: 200, answer: '1' }))

    const other = store.idempotent(request({ requestHash: 'h2' }), async () => ({ status: 200, answer: '2' }))

    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it.each([{ actor: 'bob' }, { method: 'PUT' }, { path: '/jobs/2/cancel' }, { key: 'k2' }])(
    'is another one with %j',
    async (over) => {
      await store.idempotent(request(), async () => ({ status: 200, answer: '1' }))

      const other = await store.idempotent(request(over), async () => ({ status: 200, answer: '2' }))

      expect(other).toEqual({ status: 200, answer: '2', replayed: false })
    },
  )

  it('that is refused leaves no key and no effect', async () => {
    const { id } = await given.job()

    const refused = store.idempotent(request(), async (inside) => {
      await inside.cancelJob(id, act)
      await inside.retryJob(id, { budget: 'fresh', overrides: {}, onConflict: 'fail', force: false }, act)
      return { status: 200, answer: '1' }
    })

    await expect(refused).rejects.toMatchObject({ code: 'invalid_state' })
    expect(await store.getJob(id)).toMatchObject({ state: 'available' })
    expect(await db.run(keys, [])).toEqual([])
  })

  it('goes on after something in it was refused by the database, and caught', async () => {
    const { id } = await given.job()

    await store.idempotent(request(), async (inside) => {
      const refused = inside.enqueue([job({ priority: 1_000 })])
      await expect(refused).rejects.toMatchObject({ code: 'internal' })
      await inside.cancelJob(id, act)
      return { status: 200, answer: '1' }
    })

    expect(await store.getJob(id)).toMatchObject({ state: 'cancelled' })
  })

  it('whose connection is lost leaves nothing, and says so at once', async () => {
    const { id } = await given.job()

    const lost = store.idempotent(request(), async (inside) => {
      await inside.cancelJob(id, act)
      const ended = sql<[], []>`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'idle in transaction'`
      await db.run(ended, [])
      await inside.enqueue([job()])
      return { status: 200, answer: '1' }
    })

    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await store.getJob(id)).toMatchObject({ state: 'available' })
    expect(await db.run(keys, [])).toEqual([])
  }, 10_000)

  it('that still runs after two seconds answers so', async () => {
    let refused: Promise<unknown> = Promise.resolve()

    await store.idempotent(request(), async () => {
      refused = store.idempotent(request(), async () => ({ status: 200, answer: '2' })).catch((error: unknown) => error)
      expect(await refused).toMatchObject({ code: 'idempotency_in_progress' })
      return { status: 200, answer: '1' }
    })
  })

  it('is not waited for once it has ended, and of many at once one acts', async () => {
    let acts = 0

    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        store.idempotent(request(), async () => {
          acts++
          return { status: 200, answer: '1' }
        }),
      ),
    )

    expect(acts).toBe(1)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  })

  it('is forgotten after 24 hours', async () => {
    await store.idempotent(request(), async () => ({ status: 200, answer: '1' }))
    await inTransaction((tx) =>
      tx.execute(`update spillway.idempotency_keys set created_at = now() - interval '25 hours'`),
    )

    const again = await store.idempotent(request({ requestHash: 'h2' }), async () => ({ status: 200, answer: '2' }))
    await inTransaction((tx) =>
      tx.execute(`update spillway.idempotency_keys set created_at = now() - interval '25 hours'`),
    )
    await store.retain(100)

    expect(again).toEqual({ status: 200, answer: '2', replayed: false })
    expect(await db.run(keys, [])).toEqual([])
  })
})
