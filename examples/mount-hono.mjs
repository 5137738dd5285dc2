// The control API inside a Hono application, under /queues.
import { Hono } from 'hono'
import { createHandler, toHono } from 'spillway/http'

export function createApp(spillway, access = { tokens: true }) {
  const app = new Hono()
  app.get('/', (context) => context.text('the application'))
  app.all('/queues/*', toHono(createHandler({ spillway, access }), '/queues'))
  return app
}
