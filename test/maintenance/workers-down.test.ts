import { expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { commandLine } from '../cli/spillway.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const LIMIT_MS = 180_000

describeStore('while the workers of a queue are down, and only a server is up', ({ store, given, db, url, clock }) => {
  const spillway = commandLine(url)
  /** Beating whatever the clock says. */
  const alive = (queue: string) =>
    given.worker({ queues: [queue], kinds: ['test@1'], heartbeatAt: new Date(Date.now() + 600_000) })
  const waiting = (queue: string, kind: string) =>
    given.job({ queue, kind, runAt: new Date(Date.now() - 60 * 86_400_000) })
  const stateOf = async ({ id }: { id: string }) => (await store.getJob(id))?.state

  /** A minute goes by, and the server looks at its end, which the queue `always` shows. */
  const minute = async () => {
    await clock.advance('60s', { workers: 'beating' })
    await until(async () => {
      await db.run(sql<[], []>`select pg_notify('spillway_notices', 'p')`, [])
      const [row] = await db.run(
        sql<[], [isFresh: string]>`
          select seen_at > now() - interval '30 seconds' from spillway.unserved_kinds where queue = 'always'`,
        [],
      )
      return row?.[0] === 't'
    })
  }

  it('nothing of it dies of `no_handler`, for hours; the time goes on when one is back', async () => {
    for (const queue of ['down', 'up']) {
      await db.run(
        sql<[string, number], []>`
          insert into spillway.queues (queue, policy) values ($1, json_build_object('noHandlerAfterMs', $2::bigint))`,
        [queue, LIMIT_MS],
      )
    }
    await db.run(
      sql<[], []>`insert into spillway.queues (queue, policy) values ('always', '{"noHandlerAfterMs": 8640000000}')`,
      [],
    )
    const served = await waiting('down', 'test')
    const unserved = await waiting('down', 'other')
    const beside = await waiting('up', 'other')
    await waiting('always', 'other')
    await alive('always')
    await alive('up')
    const worker = await alive('down')
    const server = spillway.start('serve', '--port', '0', '--json')
    onTestFinished(() => server.kill('SIGTERM'))
    await server.line(/"url"/)
    await minute()
    await minute()

    await db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [worker])
    await clock.advance('5h', { workers: 'beating' })
    for (let n = 0; n < 6; n++) await minute()

    const meanwhile = await Promise.all([served, unserved, beside].map(stateOf))
    await alive('down')
    for (let n = 0; n < 4; n++) await minute()
    await until(async () => (await stateOf(unserved)) === 'archived')

    expect(meanwhile).toEqual(['available', 'available', 'archived'])
    expect(await stateOf(served)).toBe('available')
    expect((await store.getJob(beside.id))?.dlq?.reason).toBe('no_handler')
    server.kill('SIGTERM')
    await server.done
  })
})
