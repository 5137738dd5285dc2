import { signal, until } from 'spillway/testing'
import { afterAll, expect, it } from 'vitest'
import { Spillway } from '../../src/index.js'
import type { LoggedEvent } from '../../src/store/store.js'
import { onServer } from '../support/server.js'
import { describeStore } from '../support/store.js'

describeStore('events', ({ given, url }) => {
  const spillway = new Spillway({ url, actor: 'ann' })
  afterAll(() => spillway.close())

  const die = async (queue = 'default', kind = 'test') => {
    const { id } = await given.job({ queue, kind })
    await spillway.jobs.kill(id, { reason: 'no' })
    return id
  }
  const follow = (after?: string, from: Spillway = spillway) => {
    const heard = signal<LoggedEvent>('an event')
    const stopped = new AbortController()
    const done = (async () => {
      for await (const event of from.events.subscribe({ after, signal: stopped.signal })) heard.fire(event)
    })()
    return {
      heard,
      stop: async () => {
        stopped.abort()
        await done
      },
    }
  }

  it('are listed in order, page by page, also where no worker runs', async () => {
    const after = await spillway.events.position()
    const ids = [await die(), await die(), await die('other')]

    const page = await spillway.events.list({ after, limit: 2 })
    const rest = await spillway.events.list({ after: page.cursor ?? '', limit: 2 })
    const all: string[] = []
    for await (const { jobId } of spillway.events.list({ after, limit: 1 })) all.push(jobId)
    const other = await spillway.events.list({ after, queue: 'other', types: ['died'] })

    expect(page.items.map(({ jobId }) => jobId)).toEqual(ids.slice(0, 2))
    expect(rest).toMatchObject({ items: [{ jobId: ids[2], type: 'died', reason: 'no' }], cursor: null })
    expect(all).toEqual(ids)
    expect(other.items.map(({ jobId }) => jobId)).toEqual(ids.slice(2))
  })

  it('carry no payload', async () => {
    const after = await spillway.events.position()
    const { id } = await given.job({ payload: { card: '4711-secret-4711' } })
    await spillway.jobs.kill(id, {})

    const { items } = await spillway.events.list({ after })

    expect(items.map(({ jobId }) => jobId)).toEqual([id])
    expect(JSON.stringify(items)).not.toContain('4711-secret')
  })

  it('come as they happen to who subscribes, without a worker', async () => {
    const { heard, stop } = follow(await spillway.events.position())
    const id = await die()

    const event = await heard.next({ within: '5s' })
    await stop()

    expect(event.jobId).toBe(id)
  })

  it('go on behind the last one that was seen', async () => {
    const after = await spillway.events.position()
    const ids = [await die(), await die()]
    const [first] = (await spillway.events.list({ after })).items
    const { heard, stop } = follow(first?.position)

    const event = await heard.next()
    await stop()

    expect(event.jobId).toBe(ids[1])
  })

  it('begin with what is new where nothing else is said', async () => {
    await die()
    const { heard, stop } = follow()
    // What it begins behind is known only to it: deaths until one of them is heard.
    let deaths: string[] = []
    const dying = until(
      async () => {
        deaths = [...deaths, await die()]
        return heard.count > 0
      },
      { every: 100 },
    )
    const event = await heard.next()
    await dying
    await stop()

    expect(deaths).toContain(event.jobId)
  })

  it('miss nothing and repeat nothing when connections are lost', async () => {
    const own = new Spillway({ url })
    const after = await spillway.events.position()
    const { heard, stop } = follow(after, own)
    const ids: string[] = []
    const seen: string[] = []
    for (let round = 0; round < 3; round++) {
      ids.push(await die())
      seen.push((await heard.next({ within: '10s' })).jobId)
      await onServer(url, (client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        ),
      )
      ids.push(await until(() => die().catch(() => undefined)))
      seen.push((await heard.next({ within: '10s' })).jobId)
    }
    await stop()
    await own.close()

    expect(seen).toEqual(ids)
    expect(heard.count).toBe(ids.length)
  })

  it.each([
    ['a position that is none', { after: 'x' }],
    ['a negative one', { after: '-1' }],
    ['a type there is not', { types: ['dyed'] as never }],
    ['an empty list of types', { types: [] }],
    ['an empty queue', { queue: '' }],
  ])('refuse %s', async (_, options) => {
    expect(() => spillway.events.list(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    expect(() => spillway.events.subscribe(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})
