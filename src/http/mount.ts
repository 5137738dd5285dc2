import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiHandler } from './handler.js'
import { respond, toNodeListener } from './node.js'

/**
 * For Express 5 and Connect, at any sub-path: `app.use('/queues', toExpress(handler))`. Behind `express.json()` integers
 * above 2^53 in payloads stay exact only where the body is kept: `express.json({ verify: keepRawBody })`.
 */
export const toExpress = toNodeListener

/** For `express.json({ verify: keepRawBody })`: what was sent, for whoever comes after the parser. */
export function keepRawBody(request: IncomingMessage, _response: unknown, body: Uint8Array): void {
  Object.assign(request, { rawBody: body })
}

interface FastifyLike {
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): unknown
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => void,
  ): unknown
}

/** For Fastify 5, as a plugin: `app.register(toFastify(handler), { prefix: '/queues' })`. */
export function toFastify(handler: ApiHandler): (app: FastifyLike) => Promise<void> {
  return async (app) => {
    // Bodies are read by the handler, with its own limits and to the last digit.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _body, done) => done(null))
    for (const path of ['/', '/*']) {
      app.all(path, (request, reply) => {
        reply.hijack()
        void respond(handler, request.raw, reply.raw, app.prefix)
      })
    }
  }
}

interface HonoContextLike {
  readonly req: { readonly raw: Request }
}

/** For Hono: `app.all('/queues/*', toHono(handler, '/queues'))`. */
export function toHono(handler: ApiHandler, basePath = ''): (context: HonoContextLike) => Promise<Response> {
  return (context) => handler(context.req.raw, { basePath })
}

type NextRoute = (request: Request) => Promise<Response>

/**
 * For Next's route handlers, in `app/queues/[[...path]]/route.ts`:
 * `export const { GET, HEAD, POST, PUT, PATCH, DELETE } = toNext(handler, '/queues')`.
 */
export function toNext(
  handler: ApiHandler,
  basePath = '',
): Readonly<Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', NextRoute>> {
  const answer: NextRoute = (request) => handler(request, { basePath })
  return { GET: answer, HEAD: answer, POST: answer, PUT: answer, PATCH: answer, DELETE: answer }
}
