import { Agent, createServer, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { type ApiHandler, type Listening, type ListenOptions, listen } from '../../src/http/index.js'
import { respond } from '../../src/http/node.js'
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
    const { status, headers } = await answer
    expect([status, headers.get('connection')]).toEqual([200, 'close'])
    await Promise.all([stopped, again])
  })

  it('ends a connection that asks again and again with the answer under way', async () => {
    let server: Listening | undefined
    let stopped: Promise<void> | undefined
    const onAnswer = () => {
      stopped = server?.stop()
    }
    server = await start({ onAnswer })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      new Promise<string>((resolve) => {
        get(`${server?.url}/healthz`, { agent }, (answer) => {
          answer.resume()
          answer.once('end', () => resolve(String(answer.headers.connection)))
        }).once('error', ({ message }) => resolve(message))
      })

    const answers = [await ask(), await ask()]
    await stopped
    agent.destroy()

    expect(answers).toEqual(['close', expect.stringContaining('ECONNREFUSED')])
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

    const said = await sent(server.url, text)

    const [head = '', told = ''] = said.split('\r\n\r\n')
    expect(head, said).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(head, said).toMatch(/content-type: application\/problem\+json/i)
    expect(said, said).toMatch(/"detail":"[^"]{20}/)
    expect(told, said).toContain(`"status":${head.slice(9, 12)}`)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    await server.stop()
  })

  it('takes what a body sent with a GET would filter by for a mistake', async () => {
    const server = await start()

    const said = await sent(
      server.url,
      'GET /api/v1/dlq HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"queue":"q"}',
    )

    expect(said).toMatch(/^HTTP\/1\.1 422 /)
    expect(said).toContain('its query')
    await server.stop()
  })

  it('answers an address with the name of the server in it, as proxies get it', async () => {
    const server = await start()

    const said = await sent(
      server.url,
      'GET http://127.0.0.1/api/v1/dlq HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
    )

    expect(said).toMatch(/^HTTP\/1\.1 200 /)
    await server.stop()
  })

  it.each(['/jobs', '/dlq/bulk-retry', '/dlq/import'])(
    'takes a body of %s that breaks off for a fault of who sent it',
    async (path) => {
      const answers: number[] = []
      let told: () => void = () => undefined
      const isTold = new Promise<void>((resolve) => {
        told = resolve
      })
      const errors: unknown[] = []
      const server = await start({
        onError: (error) => errors.push(error),
        onAnswer: ({ status }) => {
          answers.push(status)
          told()
        },
      })

      const type = path.endsWith('import') ? 'application/x-ndjson' : 'application/json'
      const head = `POST /api/v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: 1000`
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.end(`${head}\r\n\r\n{"kind":`))
      socket.on('error', () => undefined)
      await isTold

      expect(answers).toEqual([422])
      expect(errors).toEqual([])
      await server.stop()
    },
  )

  it('lets go of who asks for events and reads none of them', async () => {
    const { listener, closed } = neverEnding()
    const server = createServer((request, response) => void respond(listener, request, response, '', 50))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
    )
    socket.on('error', () => undefined)
    socket.pause()

    await closed

    socket.destroy()
    server.close()
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

/** Sends it, and hears what comes back: a document, or nothing until the other side ends. */
function sent(url: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    let all = ''
    const done = () => {
      resolve(all)
      socket.destroy()
    }
    socket.on('data', (data) => {
      all += String(data)
      if (/\r\n\r\n[\s\S]*\}/.test(all)) done()
    })
    socket.on('error', done)
    socket.on('close', done)
  })
}

/** Answers with a stream that says more than any buffer takes, and tells when its reader was let go. */
function neverEnding(): { listener: ApiHandler; closed: Promise<void> } {
  let gone: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    gone = resolve
  })
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => gone(),
  })
  const listener = Object.assign(async () => new Response(body), { drain: () => undefined })
  return { listener, closed }
}
