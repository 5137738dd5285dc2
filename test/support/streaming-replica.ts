import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinaries } from '../../src/embedded/binaries.js'
import { freePort } from '../../src/embedded/free-port.js'
import { chooseLauncher } from '../../src/embedded/launcher.js'
import { ended } from './child-server.js'
import { until } from './patience.js'
import { onServer } from './server.js'

export interface StreamingReplica {
  /** The same role and database as the primary's url. */
  readonly url: string
  /** Stops replaying what comes from the primary, so that it lags for as long as wanted. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

const LEFT_OUT = /postmaster\.(pid|opts)$|pgsql_tmp|pg_replslot\/.|pg_stat_tmp\/./

/** Files and databases may go while they are copied; replaying the log makes up for it. */
function copyLive(from: string, to: string): void {
  try {
    mkdirSync(to, { recursive: true })
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (LEFT_OUT.test(source)) continue
      if (entry.isDirectory()) copyLive(source, target)
      else if (entry.isFile()) copyIfThere(source, target)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** A hot standby of the server at `url`, made of a copy of its files; the server must run on this machine. */
export async function startReplica(url: string): Promise<StreamingReplica> {
  const base = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-replica-'))
  chmodSync(base, 0o755)
  const data = join(base, 'data')
  await onServer(url, async (client) => {
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    await client.query(`select pg_backup_start('replica', true)`)
    copyLive(rows[0]!.folder, data)
    const stopped = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(data, 'backup_label'), stopped.rows[0]!.labelfile)
  })
  writeFileSync(join(data, 'standby.signal'), '')
  const server = new URL(url)
  const port = await freePort()
  const launcher = chooseLauncher(findBinaries(join(base, 'lib')), base, () => undefined)
  launcher.own(data)
  chmodSync(data, 0o700)
  const settings = {
    ...{ listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', hot_standby: 'on' },
    ...{ max_connections: '300', fsync: 'off', timezone: 'UTC' },
    primary_conninfo: `host=${server.hostname} port=${server.port} user=${server.username} password=${decodeURIComponent(server.password)} sslmode=disable`,
  }
  const logFile = join(base, 'log')
  const log = openSync(logFile, 'a')
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = launcher.spawn(launcher.binaries.postgres, ['-D', data, ...flags], ['ignore', log, log])
  closeSync(log)

  const own = new URL(url)
  own.port = String(port)
  own.searchParams.delete('host')
  const at = (text: string) => onServer(own.href, (client) => client.query(text))
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8'))
      return at('select 1')
    },
    { within: '60s', what: 'the replica' },
  )
  return {
    url: own.href,
    pause: async () => void (await at('select pg_wal_replay_pause()')),
    resume: async () => void (await at('select pg_wal_replay_resume()')),
    async stop() {
      await ended(child, 'SIGINT')
      rmSync(base, { recursive: true, force: true })
    },
  }
}
