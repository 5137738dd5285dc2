// The control API inside an Express 5 application, under /queues and behind its body parser.
import { pathToFileURL } from 'node:url'
import express from 'express'
import { Spillway } from 'spillway'
import { createHandler, keepRawBody, toExpress } from 'spillway/http'

export function createApp(spillway, access = { tokens: true }) {
  const app = express()
  // Without `verify` bodies arrive too, but integers above 2^53 in payloads are rounded by the parser.
  app.use(express.json({ verify: keepRawBody }))
  app.get('/', (_request, response) => response.send('the application'))
  app.use('/queues', toExpress(createHandler({ spillway, access })))
  return app
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  createApp(new Spillway({ url: process.env.DATABASE_URL })).listen(3000)
}
