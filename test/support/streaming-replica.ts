import type { ChildProcess } from 'node:child_process'
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
import { basename, join } from 'node:path'
import { until } from 'spillway/testing'
import { findBinaries } from '../../src/embedded/binaries.js'
import { freePort } from '../../src/embedded/free-port.js'
import { chooseLauncher } from '../../src/embedded/launcher.js'
import type { Duration } from '../../src/job/duration.js'
import { ended } from './child-server.js'
import { onServer } from './server.js'

export interface StreamingReplica {
  /** The same role and database as the primary's url. */
  readonly url: string
  /** Stops replaying what comes from the primary, so that it lags for as long as wanted. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

export interface ReplicaOptions {
  /** More settings of the replica, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** How long it may take to answer. Default: 120 s. */
  readonly within?: Duration
}

const LOG_LINES = 20

/**
 * A hot standby of the server at `url`, made of a copy of its files; the server must run on this machine, as its
 * superuser's url says, and hold little.
 *
 * One that does not come up is ended and leaves nothing behind, neither a process nor anything on the primary.
 *
 * @throws an error that ends with the last lines of the replica's log.
 */
export async function startReplica(url: string, options: ReplicaOptions = {}): Promise<StreamingReplica> {
  const base = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-replica-'))
  chmodSync(base, 0o755)
  const slot = basename(base)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '_')
  const logFile = join(base, 'log')
  writeFileSync(logFile, '')
  let child: ChildProcess | undefined
  const stop = async () => {
    // It is thrown away, so it need not shut down in order; this ends it also while it recovers.
    if (child) await ended(child, 'SIGQUIT')
    await dropSlot(url, slot)
    rmSync(base, { recursive: true, force: true })
  }
  try {
    // Before the copy begins, so that no checkpoint takes away what the replica has yet to read.
    await onServer(url, (client) => client.query('select pg_create_physical_replication_slot($1, true)', [slot]))
    const port = await freePort()
    child = await launch(url, { base, slot, port, logFile, ...options })
    const own = new URL(url)
    own.port = String(port)
    own.searchParams.delete('host')
    await answering(child, own.href, options.within)
    return controls(own.href, stop)
  } catch (error) {
    const log = readFileSync(logFile, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n')
    await stop()
    throw new Error(`cannot start a replica: ${(error as Error).message}. The last of its log:\n${log}`, {
      cause: error,
    })
  }
}

interface Launch extends ReplicaOptions {
  readonly base: string
  readonly slot: string
  readonly port: number
  readonly logFile: string
}

async function launch(url: string, { base, slot, port, logFile, settings }: Launch): Promise<ChildProcess> {
  const data = join(base, 'data')
  await onServer(url, async (client) => {
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    await client.query(`select pg_backup_start('replica', true)`)
    copyLive(rows[0]!.folder, data)
    const stopped = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(data, 'backup_label'), stopped.rows[0]!.labelfile)
  })
  writeFileSync(join(data, 'standby.signal'), '')
  const launcher = chooseLauncher(findBinaries(join(base, 'lib')), base, () => undefined)
  launcher.own(data)
  chmodSync(data, 0o700)
  const server = new URL(url)
  const all = {
    ...{ listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', hot_standby: 'on' },
    ...{ max_connections: '300', fsync: 'off', timezone: 'UTC' },
    primary_conninfo: `host=${server.hostname} port=${server.port} user=${server.username} password=${decodeURIComponent(server.password)} sslmode=disable`,
    primary_slot_name: slot,
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openSync(logFile, 'a')
  try {
    return launcher.spawn(launcher.binaries.postgres, ['-D', data, ...flags], ['ignore', log, log])
  } finally {
    closeSync(log)
  }
}

/** The log comes from the primary; the rest is of its processes, not of its data. */
const LEFT_OUT = /postmaster\.(pid|opts)$|\/pg_(wal|replslot|stat_tmp)\/.|pgsql_tmp/

/** Files may go while they are copied; replaying the log makes up for it. */
function copyLive(from: string, to: string): void {
  ifThere(() => {
    mkdirSync(to, { recursive: true })
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (LEFT_OUT.test(source.replaceAll('\\', '/'))) continue
      if (entry.isDirectory()) copyLive(source, target)
      else if (entry.isFile()) ifThere(() => copyFileSync(source, target))
    }
  })
}

function ifThere(copy: () => void): void {
  try {
    copy()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function answering(child: ChildProcess, url: string, within: Duration = '120s'): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  await until(async () => hasEnded() || (await onServer(url, (client) => client.query('select 1'))) !== undefined, {
    within,
    // Each look stands in its log.
    every: 250,
    what: 'the replica',
  })
  if (hasEnded()) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`)
}

function controls(url: string, stop: () => Promise<void>): StreamingReplica {
  const ask = async <T>(text: string) => (await onServer(url, (client) => client.query<{ answer: T }>(text))).rows[0]!
  return {
    url,
    async pause() {
      await ask('select pg_wal_replay_pause() as answer')
      // It is only asked for; what is replayed until then would be seen.
      await until(
        async () => (await ask<string>('select pg_get_wal_replay_pause_state() as answer')).answer === 'paused',
      )
    },
    async resume() {
      await ask('select pg_wal_replay_resume() as answer')
    },
    stop,
  }
}

/** Its user may just be going; a slot that was never made is none. */
async function dropSlot(url: string, slot: string): Promise<void> {
  await onServer(url, (client) =>
    until(
      async () => {
        await client.query(
          'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
          [slot],
        )
        return true
      },
      { within: '20s', what: 'the end of the replication slot' },
    ),
  )
}
