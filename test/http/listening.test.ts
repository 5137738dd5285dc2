import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { type ListenOptions, listen } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

describeStore('a server', ({ store, given }) => {
  const start = (over: Partial<ListenOptions> = {}) =>
    listen({ spillway: new Client({ store }), access: 'open', port: 0, ...over })

  it('answers on its port, and says whether it is well', async () => {
    await given.jobs(2, { state: 'archived', queue: 'q"\n' })
    const server = await start()

    const health = await fetch(`${server.url}/healthz`)
    const ready = await fetch(`${server.url}/readyz`)
    const metrics = await (await fetch(`${server.url}/metrics`)).text()

    expect([health.status, ready.status]).toEqual([200, 200])
    expect(metrics).toContain('spillway_dlq_depth{queue="q\\"\\n"} 2')
    expect(metrics).toMatch(/spillway_dlq_oldest_age_seconds\{queue="q\\"\\n"\} \d/)
    expect(metrics).toMatch(/spillway_http_request_duration_seconds_count\{method="GET",route="none",status="200"\} 2/)
    expect((await fetch(`${server.url}/metrics`, { method: 'POST' })).status).toBe(405)
    await server.stop()
  })

  it('is not ready where the store is away', async () => {
    const server = await start({
      spillway: new Client({ store: { ...store, maskedPaths: () => Promise.reject(new Error('away')) } }),
    })

    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(500)
    await server.stop()
  })

  it.each(['0.0.0.0', '::', '192.168.1.7', 'queues.example'])(
    'does not listen on %s without authentication',
    async (host) => {
      await expect(start({ host })).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('--auth'),
      })
    },
  )

  it('listens there with it', async () => {
    const server = await start({ host: '0.0.0.0', access: { tokens: true } })

    const { port } = new URL(server.url)
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/jobs`)).status).toBe(401)
    await server.stop()
  })

  it('says that the port is taken', async () => {
    const server = await start()

    await expect(start({ port: Number(new URL(server.url).port) })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('--port'),
    })
    await server.stop()
  })

  it('ends what it has begun before it stops, and takes nothing new', async () => {
    let release: () => void = () => undefined
    let begun: () => void = () => undefined
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = new Client({
      store: {
        ...store,
        countJobs: async () => {
          begun()
          await held
          return store.countJobs()
        },
      },
    })
    const server = await start({ spillway: slow })
    const answer = fetch(`${server.url}/api/v1/jobs/counts`)
    await isBegun

    const stopped = server.stop()
    const again = server.stop()
    const refused = await fetch(`${server.url}/healthz`).then(
      () => 'answered',
      () => 'refused',
    )
    release()

    expect(refused).toBe('refused')
    expect((await answer).status).toBe(200)
    await Promise.all([stopped, again])
  })

  it.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['a path that is no path', 'GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['a host that is none', 'GET /api/v1/jobs HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    [
      'a body longer than it says',
      'POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Type: application/json\r\n\r\n{"kind":"k"}',
    ],
    [
      'two lengths',
      'POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['a huge header', `GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`],
  ])('refuses %s, and lives', async (_, text) => {
    const server = await start()
    const { port } = new URL(server.url)

    const said = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(text))
      let all = ''
      socket.on('data', (data) => {
        all += String(data)
      })
      socket.on('error', () => resolve(all))
      socket.on('close', () => resolve(all))
    })

    expect(said === '' || /^HTTP\/1\.1 4\d\d /.test(said), said).toBe(true)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    await server.stop()
  })

  it('survives a reader who goes away in the middle', async () => {
    await given.jobs(200, { state: 'archived', payload: 'x'.repeat(20_000) })
    const server = await start()
    const gone = new AbortController()

    const response = await fetch(`${server.url}/api/v1/dlq/export`, { method: 'POST', signal: gone.signal })
    await response.body?.getReader().read()
    gone.abort()

    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    await server.stop()
  })
})
