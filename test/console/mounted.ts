import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsoleSuite } from './browser.js'

/**
 * Serves the console as {@link ConsoleSuite.serve} does, behind a proxy that has it under a path, which it cuts off. Other paths
 * are refused: whatever forgets where the console lies does not get through.
 *
 * @returns its address, without a slash at its end.
 */
export async function mounted({ serve, after }: Pick<ConsoleSuite, 'serve' | 'after'>, at: string): Promise<string> {
  const inner = new URL((await serve()).url)
  const proxy = createServer((incoming, answer) => {
    if (!incoming.url?.startsWith(`${at}/`)) return answer.writeHead(421).end()
    const { method, headers } = incoming
    const outgoing = request({
      host: inner.hostname,
      port: inner.port,
      path: incoming.url.slice(at.length),
      method,
      headers,
    })
    outgoing.on('response', (it) => it.pipe(answer.writeHead(it.statusCode ?? 502, it.headers)))
    outgoing.on('error', () => answer.destroy())
    // A stream of events ends with whoever reads it.
    answer.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  after(() => closed(proxy))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${at}`
}

function closed(server: Server): void {
  server.closeAllConnections()
  server.close()
}
