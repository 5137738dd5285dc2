import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/embedded/free-port.js'
import { ended } from './child-server.js'
import { until } from './patience.js'
import { onServer } from './server.js'

/** Where Debian puts it is not on everybody's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`
/** It refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const asked = spawnSync('pgbouncer', ['--version'], { env: { ...process.env, PATH }, encoding: 'utf8' })
export const hasPgbouncer = asked.status === 0

/** From 1.21 on it can keep prepared statements for its clients. */
export const losesNames = Number(/ 1\.(\d+)/.exec(asked.stdout ?? '')?.[1]) < 21

export interface Pooler {
  /** Of database `postgres`, through the pooler. */
  readonly url: string
  /** What it has written. */
  log(): string
  stop(): Promise<void>
}

/** A real pgbouncer in front of the server at `url`, for every database of it. It takes no startup parameters for granted. */
export async function startPgbouncer(
  url: string,
  { mode = 'transaction', connections = 10 }: { mode?: 'transaction' | 'session'; connections?: number } = {},
): Promise<Pooler> {
  const server = new URL(url)
  const host = server.searchParams.get('host') ?? server.hostname
  const dir = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-pgbouncer-'))
  chmodSync(dir, 0o755)
  const port = await freePort()
  const config = join(dir, 'pgbouncer.ini')
  // By TCP, because the server's socket is open to its own user only.
  const target = `host=${server.hostname || host} port=${server.port || '5432'} user=${server.username} password=${decodeURIComponent(server.password)}`
  writeFileSync(
    config,
    `[databases]
* = ${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${connections}
max_client_conn = 500
server_idle_timeout = 2
`,
  )
  const child = spawn('pgbouncer', [config], { ...NOBODY, env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] })
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text
    })
  }
  const pooled = `postgres://${server.username}@127.0.0.1:${port}/postgres`
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${written}\n${readFileSync(config, 'utf8')}`)
      return onServer(pooled, (client) => client.query('select 1'))
    },
    { within: '10s', what: `pgbouncer: ${written}` },
  )
  return {
    url: pooled,
    log: () => written,
    async stop() {
      await ended(child, 'SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
