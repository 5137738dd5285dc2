import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from 'spillway/testing'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answer = (response: ServerResponse, received: Received) => void

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** The `n`th request, from 1, as soon as it is there. */
  arrived(n: number): Promise<Received>
  /** How it answers from now on. Default: 204. */
  answer(how: Answer): void
  close(): Promise<void>
  /** Listens again, on the same port. */
  reopen(): Promise<void>
}

/** A real server that webhooks can be sent to. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let answer: Answer = (response) => void response.writeHead(204).end()
  const listen = () =>
    createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (text: string) => {
        body += text
      })
      request.on('end', () => {
        const one = { path: request.url ?? '', headers: request.headers, body }
        received.push(one)
        answer(response, one)
      })
    })
  let server: Server = listen()
  await opened(server, 0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    arrived: (n) => until(() => received[n - 1], { within: '10s', what: 'a request' }),
    answer: (how) => {
      answer = how
    },
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
    async reopen() {
      server = listen()
      await opened(server, port)
    },
  }
}

function opened(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
}
