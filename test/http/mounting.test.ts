import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { createHandler, toExpress, toNodeListener } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'

const examples = (name: string) => import(`../../examples/mount-${name}.mjs`)

interface Mounted {
  /** Of the application; the API is below it, in `at`. */
  readonly url: string
  readonly at: string
  close(): Promise<unknown>
}

describeStore('mounted in', ({ store }) => {
  const client = new Client({ store })
  const open: Mounted[] = []
  afterEach(async () => {
    for (const it of open.splice(0)) await it.close()
  })

  const served = async (server: Server, at: string): Promise<Mounted> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const close = () => new Promise((resolve) => server.close(resolve))
    server.unref()
    return { url: `http://127.0.0.1:${port}`, at, close }
  }
  const byFetch = (answer: (request: Request) => Promise<Response> | Response) =>
    createServer(
      toNodeListener(Object.assign((request: Request) => Promise.resolve(answer(request)), { drain: () => undefined })),
    )

  const MOUNTS: Readonly<Record<string, () => Promise<Mounted>>> = {
    'Express 5, under a path and behind express.json()': async () =>
      served(createServer((await examples('express')).createApp(client, 'open')), '/queues'),
    'Express 5, at its root': async () =>
      served(createServer(express().use(toExpress(createHandler({ spillway: client, access: 'open' })))), ''),
    'Fastify 5': async () => {
      const app = (await examples('fastify')).createApp(client, 'open')
      const url = (await app.listen({ port: 0, host: '127.0.0.1' })) as string
      return { url, at: '/queues', close: () => app.close() }
    },
    Hono: async () => {
      const app = (await examples('hono')).createApp(client, 'open')
      return served(
        byFetch((request) => app.fetch(request)),
        '/queues',
      )
    },
    Next: async () => {
      const routes = (await examples('next')).createRoutes(client, 'open')
      const isOurs = ({ url }: Request) => new URL(url).pathname.startsWith('/queues')
      const route = (request: Request) =>
        isOurs(request) ? routes[request.method](request) : new Response('the application')
      return served(byFetch(route), '/queues')
    },
  }

  describe.each(Object.entries(MOUNTS))('%s', (name, mount) => {
    const start = async () => {
      const mounted = await mount()
      open.push(mounted)
      const ask = (path: string, init?: RequestInit) => fetch(`${mounted.url}${mounted.at}${path}`, init)
      return { ...mounted, ask }
    }
    const json = { 'content-type': 'application/json' }

    it('takes and gives bodies, to the last digit', async () => {
      const { ask } = await start()

      const made = await ask('/api/v1/jobs', {
        method: 'POST',
        headers: json,
        body: '{"kind":"k","payload":{"n":9007199254740993}}',
      })
      const { id } = (await made.json()) as { id: string }
      const shown = await ask(`/api/jobs/${id}?include_payload=true`)

      expect(made.status).toBe(201)
      expect(await shown.text()).toContain('"payload":{"n":9007199254740993}')
    })

    it('acts without a body, refuses, and knows its place', async () => {
      const { ask, at, url } = await start()
      const { id } = await client.enqueue('k', {})

      const cancelled = await ask(`/api/v1/jobs/${id}/cancel`, { method: 'POST', headers: { 'idempotency-key': 'k' } })
      const unknown = await ask('/api/v1/nothing')
      const wrong = await ask(`/api/v1/jobs/${id}/cancel`)
      const broken = await ask('/api/v1/jobs', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' })
      const document = (await (await ask('/api/v1/openapi.json')).json()) as { servers: { url: string }[] }

      expect(await cancelled.json()).toMatchObject({ id, state: 'cancelled' })
      expect([unknown.status, wrong.status, broken.status]).toEqual([404, 405, 415])
      expect(document.servers).toEqual([{ url: `${at}/api/v1` }])
      expect((await ask('/healthz')).status).toBe(200)
      if (at !== '') expect(await (await fetch(url)).text()).toBe('the application')
    })

    it('takes compressed bodies where the application has unpacked them, and else says that it does not', async () => {
      const { ask } = await start()
      const headers = { ...json, 'content-encoding': 'gzip' }

      const made = await ask('/api/v1/jobs', { method: 'POST', headers, body: gzipSync('{"kind":"k","payload":[1]}') })

      const isUnpacked = name.includes('express.json()')
      expect(made.status).toBe(isUnpacked ? 201 : 415)
    })

    it('streams lines out and in', async () => {
      const { ask } = await start()
      const { id } = await client.enqueue('k', { a: 1 })
      await client.jobs.kill(id)
      const exported = await (await ask('/api/v1/dlq/export', { method: 'POST' })).text()
      await client.dlq.purge(id)

      const imported = await ask('/api/v1/dlq/import', {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: exported,
      })

      expect(await imported.json()).toEqual({ imported: 1, refused: [] })
      expect(await client.dlq.get(id)).toMatchObject({ payload: { a: 1 } })
    })
  })
})
