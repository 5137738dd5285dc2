import { signal, until } from 'spillway/testing'
import { describe, expect, it } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import type { Notice } from '../../src/store/store.js'
import { describeStore } from '../support/store.js'

const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('promoting due jobs', ({ store, given, db, inTransaction }) => {
  const positions = async () => {
    const rows = await db.run(
      sql<[], [id: string, position: string]>`
      select id, position from spillway.ready_entries order by position`,
      [],
    )
    return new Map(rows)
  }

  it('makes what is due available, longest overdue first, behind what is there', async () => {
    const there = await given.job({ queue: 'mail' })
    const second = await given.job({ state: 'scheduled', queue: 'mail', dueAt: ago(1_000) })
    const first = await given.job({ state: 'retryable', queue: 'mail', dueAt: ago(2_000), attempt: 2 })

    const { moved } = await store.promote(1_000)

    expect(moved).toBe(2)
    expect([...(await positions()).keys()]).toEqual([there.id, first.id, second.id])
    expect(await store.getJob(first.id)).toMatchObject({ state: 'available', attempt: 2, history: first.history })
  })

  it('leaves what is not due, and says when it will be', async () => {
    const later = await given.job({ state: 'scheduled', dueAt: new Date(Date.now() + 60_000) })

    const { moved, nextInMs } = await store.promote(1_000)

    expect(moved).toBe(0)
    expect(nextInMs).toBeGreaterThan(50_000)
    expect(nextInMs).toBeLessThanOrEqual(61_000)
    expect((await store.getJob(later.id))?.state).toBe('scheduled')
  })

  it('has nothing to wait for in an empty store', async () => {
    expect(await store.promote(1_000)).toEqual({ moved: 0, nextInMs: null })
  })

  it('goes on at once when a batch was full', async () => {
    await given.jobs(3, { state: 'scheduled', dueAt: ago(1_000) })

    expect(await store.promote(2)).toEqual({ moved: 2, nextInMs: 0 })
    expect(await store.promote(2)).toMatchObject({ moved: 1 })
  })

  it('brings a job that was set aside back to its position', async () => {
    const other = await given.job({ position: '20' })
    const aside = await given.job({ state: 'scheduled', dueAt: ago(1_000) })
    await db.run(
      sql<[string], []>`
      update spillway.deferred_jobs set state = 'available', position = 10, set_aside = 1 where id = $1`,
      [aside.id],
    )

    await store.promote(1_000)

    expect(await positions()).toEqual(
      new Map([
        [aside.id, '10'],
        [other.id, '20'],
      ]),
    )
  })

  it('neither waits for nor takes what somebody else is moving', async () => {
    const theirs = await given.job({ state: 'scheduled', dueAt: ago(2_000) })
    const ours = await given.job({ state: 'scheduled', dueAt: ago(1_000) })

    await inTransaction(async (tx) => {
      await tx.run(sql<[id: string], []>`select from spillway.deferred_jobs where id = $1 for update`, [theirs.id])
      expect(await store.promote(1_000)).toMatchObject({ moved: 1 })
    })

    expect((await store.getJob(ours.id))?.state).toBe('available')
    expect((await store.getJob(theirs.id))?.state).toBe('scheduled')
  })

  describe('notices', () => {
    it('tell each queue and priority once, with the lowest position', async () => {
      await given.jobs(3, { state: 'scheduled', queue: 'mail|a', dueAt: ago(1_000) })
      await given.jobs(2, { state: 'scheduled', queue: 'mail|a', priority: 10, dueAt: ago(1_000) })
      const heard: Notice[] = []
      const quiet = signal()
      const listening = await store.listen((notice) => {
        if (notice.type === 'ready') heard.push(notice)
        if (notice.type === 'ready' && notice.queue === 'the end') quiet.fire()
      })
      await given.job({ state: 'scheduled', queue: 'the end', dueAt: ago(500) })

      await store.promote(1_000)
      await quiet.next()

      const lowest = async (priority: number) =>
        (
          await db.run(
            sql<[priority: number], [string]>`
          select min(position) from spillway.ready_entries where queue = 'mail|a' and priority = $1`,
            [priority],
          )
        )[0]![0]
      await until(() => heard.length === 3)
      expect(heard).toEqual(
        expect.arrayContaining([
          { type: 'ready', queue: 'mail|a', priority: 50, position: await lowest(50) },
          { type: 'ready', queue: 'mail|a', priority: 10, position: await lowest(10) },
        ]),
      )
      await listening.close()
    })
  })
})
