import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { attach } from './attach.js'
import { EmbeddedError } from './embedded-error.js'
import type { Place, VersionFolder } from './folder.js'
import { freePort } from './free-port.js'
import type { Hold } from './hold.js'
import type { Launcher } from './launcher.js'

const MAX_LOG_BYTES = 8 * 1024 * 1024
const TRIES = 6

/** What the server is started with; the rest is PostgreSQL's default, durability above all. */
function serverSettings(launcher: Launcher, place: Place, port: number): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    port: String(port),
    ...(place.socketDir === undefined ? {} : { unix_socket_directories: place.socketDir }),
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '256MB',
    // Few checkpoints: after each one, every page's first change is written to the log in full.
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    ...(launcher.binaries.hasStatistics ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    logging_collector: 'off',
    log_destination: 'stderr',
  }
}

/**
 * Starts the server on `place.data` and claims it. To be called under the start lock, with no server running there.
 *
 * The server lives on its own from the moment it is spawned. A call that is cut short leaves it starting up; one that
 * fails leaves none. A port that somebody else takes first is replaced by another.
 *
 * @returns the claim, and the place with the port that was used.
 * @throws {@link EmbeddedError} `embedded_unavailable`, ending with the server's own words.
 */
export async function startServer(
  launcher: Launcher,
  folder: VersionFolder,
  place: Place,
  settings: Record<string, string>,
  timeoutMs: number,
): Promise<{ hold: Hold; place: Place }> {
  const deadline = Date.now() + timeoutMs
  let wanted = place.port
  for (let round = 1; ; round++) {
    const port = await freePort(wanted)
    const placed: Place = { ...place, port }
    const all = { ...serverSettings(launcher, placed, port), ...settings }
    const logFrom = logSize(folder.log)
    const server = spawnServer(launcher, folder, placed, all)
    const hold = await firstHold(server, folder, placed, deadline)
    if (hold !== undefined) {
      server.unref()
      return { hold, place: placed }
    }
    const log = readLog(folder.log, logFrom)
    const passing = /could not bind|could not create any TCP\/IP sockets|pre-existing shared memory block/.test(log)
    if (!passing || round === TRIES) throw startFailed(folder, log)
    // Either the port was taken in between, or the last of a killed server's processes is still on its way out.
    if (!/shared memory/.test(log)) wanted = undefined
    await sleep(200 * round)
  }
}

function spawnServer(
  launcher: Launcher,
  folder: VersionFolder,
  place: Place,
  settings: Record<string, string>,
): ChildProcess {
  if (logSize(folder.log) > MAX_LOG_BYTES) renameSync(folder.log, `${folder.log}.1`)
  const log = openSync(folder.log, 'a', 0o600)
  try {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    return launcher.spawn(launcher.binaries.postgres, ['-D', place.data, ...flags], ['ignore', log, log])
  } finally {
    closeSync(log)
  }
}

/** Waits until the server can be claimed; undefined when it ended instead. */
async function firstHold(
  server: ChildProcess,
  folder: VersionFolder,
  place: Place,
  deadline: number,
): Promise<Hold | undefined> {
  let ended = false
  server.once('exit', () => {
    ended = true
  })
  server.once('error', () => {
    ended = true
  })
  try {
    while (!ended) {
      const hold = await attach(folder, place)
      if (hold !== undefined) return hold
      if (Date.now() > deadline) throw startFailed(folder, readLog(folder.log, 0))
      await sleep(20)
    }
    return undefined
  } catch (error) {
    // It runs but cannot be used: not left behind, because no keeper could use it either.
    server.kill('SIGINT')
    server.unref()
    throw error
  }
}

function startFailed(folder: VersionFolder, log: string): EmbeddedError {
  const tail = log.trim().split('\n').slice(-15).join('\n') || '(nothing)'
  return new EmbeddedError(`cannot start the embedded database in ${folder.dir}. The last of ${folder.log}:\n${tail}`)
}

function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function readLog(path: string, from: number): string {
  const text = readFileSync(path)
  // It was begun anew in between when it is shorter than it was.
  return text.subarray(from > text.length ? 0 : from).toString('utf8')
}
