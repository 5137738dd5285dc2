import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { type ApiHandler, createHandler, listen } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

interface Told {
  readonly event: string
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: documents of any shape.
  readonly data: any
}

/** Reads a stream until an event is what `wanted` says; the reader then goes. */
async function told(handler: ApiHandler, path: string, headers: Record<string, string> = {}) {
  const gone = new AbortController()
  const response = await handler(new Request(`http://127.0.0.1${path}`, { headers, signal: gone.signal }))
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const seen: Told[] = []
  const next = async (wanted: (event: Told) => boolean): Promise<Told> => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
      if (done) throw new Error(`the stream ended after ${JSON.stringify(seen)}`)
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
        if (!fields.has('event')) continue
        const event = {
          event: fields.get('event') as string,
          id: fields.get('id'),
          data: JSON.parse(fields.get('data') ?? 'null'),
        }
        seen.push(event)
        if (wanted(event)) return event
      }
    }
  }
  return { response, next, seen, leave: () => gone.abort(), ended: () => reader?.closed }
}

describeStore('events over HTTP', ({ store, given }) => {
  const client = new Client({ store, actor: 'tests' })
  const open = createHandler({ spillway: client, access: 'open' })

  it('tell of an operation from its beginning to its end', async () => {
    await given.jobs(3, { state: 'archived', queue: 'q' })
    const stream = await told(open, '/api/v1/events')

    const handle = await client.dlq.discardMany({ queue: 'q' })
    const begun = await stream.next(({ event, data }) => event === 'operation' && data.id === handle.id)
    await handle.done()
    const done = await stream.next(({ event, data }) => event === 'operation' && data.state === 'done')
    stream.leave()

    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(begun.data).toMatchObject({ id: handle.id, action: 'discard' })
    expect(done.data).toMatchObject({ id: handle.id, succeeded: 3 })
  })

  it('tell of queues whose counts change', async () => {
    await client.enqueue('k', {}, { queue: 'busy' })
    const stream = await told(open, '/api/v1/events?queue=busy')
    const first = await client.dlq.discardMany({ queue: 'busy' })
    await stream.next(({ event, data }) => event === 'operation' && data.id === first.id)

    await client.enqueue('k', {}, { queue: 'idle' })
    await client.enqueue('k', {}, { queue: 'busy' })
    const changed = await stream.next(({ event, data }) => event === 'queue' && data.counts.available === 2)
    stream.leave()

    expect(changed.data).toMatchObject({ queue: 'busy', paused_at: null })
    expect(stream.seen.map(({ data }) => data.queue)).not.toContain('idle')
  })

  it('tell whoever reaches some queues nothing of others', async () => {
    const { secret } = await client.tokens.create({ name: 'ann', rights: ['read'], queues: ['mine'] })
    const handler = createHandler({ spillway: client, access: { tokens: true } })
    const authorization = `Bearer ${secret}`
    const stream = await told(handler, '/api/v1/events', { authorization })

    const theirs = await client.dlq.discardMany({ queue: 'theirs' })
    const mine = await client.dlq.discardMany({ queue: 'mine' })
    await stream.next(({ data }) => data.id === mine.id)
    stream.leave()

    expect(stream.seen.map(({ data }) => data.id)).not.toContain(theirs.id)
    const other = await handler(new Request('http://x/api/v1/events?queue=theirs', { headers: { authorization } }))
    expect(other.status).toBe(403)
  })

  it('end after a while, so that a token that was revoked is found out', async () => {
    const { id, secret } = await client.tokens.create({ name: 'ann', rights: ['read'] })
    const handler = createHandler({ spillway: client, access: { tokens: true }, streamMs: 50 })
    const headers = { authorization: `Bearer ${secret}` }
    const stream = await told(handler, '/api/v1/events', headers)
    await client.tokens.revoke(id)

    await expect(stream.next(() => false)).rejects.toThrow('the stream ended')

    expect((await handler(new Request('http://x/api/v1/events', { headers }))).status).toBe(401)
  })

  it('tell of deaths, with ids to go on from, and none is missed or told of twice', async () => {
    const dies = async () => {
      const { id } = await client.enqueue('k', { secret: 'precious' }, { queue: 'q' })
      await client.jobs.kill(id, { reason: 'obsolete' })
      return id
    }
    const stream = await told(open, '/api/v1/events?queue=q')
    const marker = await client.dlq.discardMany({ queue: 'q' }, { dryRun: true })
    await stream.next(({ data }) => data.id === marker.id)
    const first = await dies()
    const seen = await stream.next(({ event, data }) => event === 'died' && data.job_id === first)
    stream.leave()
    const missed = [await dies(), await dies()]

    const again = await told(open, '/api/v1/events?queue=q', { 'last-event-id': seen.id as string })
    await again.next(({ data }) => data.job_id === missed[1])
    const last = await dies()
    await again.next(({ data }) => data.job_id === last)
    again.leave()

    const deaths = again.seen.filter(({ event }) => event === 'died')
    expect(seen).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      data: { reason: 'obsolete', queue: 'q', kind: 'k' },
    })
    expect(deaths.map(({ data }) => data.job_id)).toEqual([...missed, last])
    expect(deaths.map(({ id }) => Number(id))).toEqual(deaths.map(({ data }) => Number(data.position)))
    expect(JSON.stringify(deaths)).not.toContain('precious')
    for (const id of ['x', '-1', '9'.repeat(19), '9'.repeat(30)]) {
      const bad = await open(new Request('http://127.0.0.1/api/v1/events', { headers: { 'last-event-id': id } }))
      expect(bad.status, id).toBe(422)
    }
  })

  it('can be read from the log, page by page', async () => {
    for (const queue of ['q', 'q', 'p']) {
      const { id } = await client.enqueue('k', {}, { queue })
      await client.jobs.kill(id)
    }
    const read = async (query: string) => {
      const response = await open(new Request(`http://127.0.0.1/api/v1/events/log?${query}`))
      return (await response.json()) as { items: { position: string; queue: string }[]; cursor: string | null }
    }

    const { items, cursor } = await read('limit=2')
    const rest = await read(`after=${cursor}`)

    expect(items).toHaveLength(2)
    expect(rest.items.at(-1)).toMatchObject({ queue: 'p' })
    expect((await read('queue=p')).items).toMatchObject([{ queue: 'p' }])
    expect((await read('type=quarantined')).items).toEqual([])
  })

  it('are watched for by nobody where only their headers are asked for', async () => {
    const watching = { begun: 0, ended: 0 }
    const listening = new Client({
      store: {
        ...store,
        listen: async (heard) => {
          watching.begun++
          const own = await store.listen(heard)
          return { ...own, close: () => own.close().finally(() => watching.ended++) }
        },
      },
    })
    const handler = createHandler({ spillway: listening, access: 'open' })

    const head = await handler(new Request('http://127.0.0.1/api/v1/events', { method: 'HEAD' }))

    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([200, 'text/event-stream', null])
    await expect.poll(() => watching, { timeout: 10_000 }).toEqual({ begun: 1, ended: 1 })
  })

  it('end when the server stops', async () => {
    const server = await listen({ spillway: client, access: 'open', port: 0 })
    const response = await fetch(`${server.url}/api/v1/events`)
    const whole = response.text()

    await server.stop()

    expect(await whole).toContain('retry: 3000')
  })
})
