import { Spillway } from 'spillway'
import { factories, type Given } from 'spillway/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Database } from '../../src/store/postgres/database.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { type OwnServer, startOwnServer } from '../support/own-server.js'
import { until } from '../support/patience.js'
import { onServer } from '../support/server.js'
import { type StreamingReplica, startReplica } from '../support/streaming-replica.js'

describe('a read replica', () => {
  let primary: OwnServer
  let replica: StreamingReplica
  let url: string
  let readUrl: string
  let given: Given
  /** What undoes the set-up so far, last first. */
  const ends: (() => Promise<void>)[] = []
  let setUp: Promise<void> | undefined

  async function start(): Promise<void> {
    // Of its own: a copy of a server that others fill meanwhile takes as long as they please to be of one moment.
    primary = await startOwnServer({ full_page_writes: 'on' })
    ends.push(() => primary.stop())
    url = primary.url
    const store = postgresStore({ url })
    ends.push(() => store.close())
    const db = new Database({ url, max: 4, prepare: true })
    ends.push(() => db.close())
    await store.migrate()
    given = factories(db, 'spillway', store)
    replica = await startReplica(url)
    ends.push(() => replica.stop())
    readUrl = replica.url
  }

  beforeAll(() => {
    setUp = start()
    return setUp
  }, 240_000)
  afterAll(async () => {
    // Also what a hook that was given up has started since.
    await setUp?.catch(() => undefined)
    for (const end of ends.reverse()) await end()
  }, 240_000)

  const opened = (options: { readUrl?: string; onError?: (error: Error) => void } = {}) => {
    const spillway = new Spillway({ url, readUrl, ...options })
    onTestFinished(() => spillway.close())
    return spillway
  }
  const listed = async (spillway: Spillway) => (await spillway.dlq.list({}, { limit: 100 })).items.map(({ id }) => id)
  const caughtUp = (id: string) =>
    until(async () => {
      const onReplica = new Spillway({ url: readUrl })
      const found = await onReplica.jobs.get(id)
      await onReplica.close()
      return found !== undefined
    })

  it('gives lists of what is at rest; what moves, and a job by its id, come from the primary', async () => {
    const spillway = opened()
    const { id: before } = await given.job({ state: 'archived' })
    await caughtUp(before)

    await replica.pause()
    onTestFinished(() => replica.resume())
    const { id: dead } = await given.job({ state: 'archived' })
    const { id: done } = await given.job({ state: 'completed' })
    const { id: waits } = await given.job({ state: 'available' })

    expect(await listed(spillway)).toEqual([before])
    expect((await spillway.jobs.list({ state: 'completed' })).items).toEqual([])
    expect((await spillway.jobs.list({ state: 'available' })).items.map(({ id }) => id)).toEqual([waits])
    expect((await spillway.jobs.get(dead))?.state).toBe('archived')
    expect((await spillway.jobs.get(done))?.state).toBe('completed')
  })

  it('gives no list in which a change of this process is missing, however far behind it is', async () => {
    const spillway = opened()
    const { id: kept } = await given.job({ state: 'archived' })
    const { id } = await given.job({ state: 'archived' })
    await caughtUp(id)

    await replica.pause()
    onTestFinished(() => replica.resume())
    await spillway.dlq.purge(id, { reason: 'asked for' })
    const whileBehind = await listed(spillway)
    const audit = (await spillway.audit.list({ action: 'purge' })).items

    expect(whileBehind).toContain(kept)
    expect(whileBehind).not.toContain(id)
    expect(audit[0]?.reason).toBe('asked for')
  })

  it('is used again once it has replayed the change', async () => {
    const spillway = opened()
    const { id } = await given.job({ state: 'archived' })
    await spillway.dlq.purge(id)
    const { id: marker } = await given.job({ state: 'archived' })
    await caughtUp(marker)
    onTestFinished(() => replica.resume())

    // The server writes to its log by itself too, and that is waited for as well.
    await until(
      async () => {
        await replica.pause()
        const { id: unseen } = await given.job({ state: 'archived' })
        const isUsed = !(await listed(spillway)).includes(unseen)
        await replica.resume()
        return isUsed
      },
      { within: '20s', what: 'a list of the replica' },
    )
  })

  it('is done without where it is away, and that is told once', async () => {
    const told: string[] = []
    const spillway = opened({ readUrl: 'postgres://127.0.0.1:1/none', onError: (error) => told.push(error.message) })
    const { id } = await given.job({ state: 'archived' })

    const first = await listed(spillway)
    const second = await listed(spillway)

    expect(first).toContain(id)
    expect(second).toEqual(first)
    expect(told.filter((it) => it.startsWith('the read replica is not used for now'))).toHaveLength(1)
  })
  it('of the tests that does not come up is ended, says what its log says, and leaves nothing on the primary', async () => {
    const refused = startReplica(url, { settings: { hot_standby: 'off' }, within: '5s' })

    await expect(refused).rejects.toThrow(/cannot start a replica.*Hot standby mode is disabled/s)
    const left = await onServer(url, (client) =>
      client.query<{ active: boolean }>('select active from pg_replication_slots'),
    )
    // A slot cannot be dropped while its replica runs; the one that is left is the other's.
    expect(left.rows).toEqual([{ active: true }])
  })
})
