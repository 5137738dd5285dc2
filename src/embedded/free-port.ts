import { createServer } from 'node:net'

/**
 * A TCP port on 127.0.0.1 that nobody listened on a moment ago: `wanted` if that is free, else any. Another program
 * may still be faster, so a server's start has to be ready to try again.
 */
export async function freePort(wanted?: number): Promise<number> {
  return (wanted === undefined ? undefined : await tryPort(wanted)) ?? (await tryPort(0)) ?? 0
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined))
    })
  })
}
