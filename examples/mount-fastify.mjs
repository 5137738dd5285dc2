// The control API inside a Fastify 5 application, under /queues.
import { pathToFileURL } from 'node:url'
import fastify from 'fastify'
import { Spillway } from 'spillway'
import { createHandler, toFastify } from 'spillway/http'

export function createApp(spillway, access = { tokens: true }) {
  const app = fastify()
  app.get('/', () => 'the application')
  app.register(toFastify(createHandler({ spillway, access })), { prefix: '/queues' })
  return app
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await createApp(new Spillway({ url: process.env.DATABASE_URL })).listen({ port: 3000 })
}
