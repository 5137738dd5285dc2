import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the receiver treats an event while it is broken. */
type Fault = 'error' | 'silence' | 'html' | 'reset' | 'gone' | 'busy'

const FAULTS: Readonly<Record<string, Fault>> = {
  push: 'error',
  pull_request: 'error',
  check_run: 'silence',
  workflow_job: 'silence',
  issues: 'html',
  release: 'reset',
  repository: 'gone',
  label: 'busy',
}

/** A receiver of webhooks on loopback that fails in real ways until it is fixed. */
export interface Receiver {
  readonly url: string
  /** Ids of the jobs that were accepted, each as often as it was. */
  readonly accepted: ReadonlyMap<string, number>
  fix(): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const accepted = new Map<string, number>()
  const seen = new Map<string, number>()
  let isFixed = false

  const accept = (job: string, response: ServerResponse) => {
    accepted.set(job, (accepted.get(job) ?? 0) + 1)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}')
  }
  const server = createServer((request, response) => {
    const job = String(request.headers['x-job'])
    const event = String(request.headers['x-event'])
    const visit = (seen.get(job) ?? 0) + 1
    seen.set(job, visit)
    request.resume().on('end', () => {
      const fault = isFixed ? undefined : FAULTS[event]
      switch (fault) {
        case 'error':
          response.writeHead(500, { 'content-type': 'text/plain' })
          response.end(`NullPointerException in handler of ${event}, request ${job}`)
          return
        case 'silence':
          return
        case 'html':
          response.writeHead(200, { 'content-type': 'text/html' }).end('<html><h1>Welcome to nginx!</h1></html>')
          return
        case 'reset':
          request.socket.destroy()
          return
        case 'gone':
          response.writeHead(410).end()
          return
        case 'busy':
          // Recovers by itself: the second try of each is taken.
          if (visit === 1) response.writeHead(429, { 'retry-after': '1' }).end()
          else accept(job, response)
          return
        default:
          // Every network loses something now and then.
          if (!isFixed && visit === 1 && Number(job) % 23 === 0) response.writeHead(503).end()
          else accept(job, response)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    accepted,
    fix() {
      isFixed = true
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
