import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isAlive, programOf, worksIn } from './process-identity.js'

/** What a running server says about itself in its data folder's postmaster.pid. */
export interface Postmaster {
  readonly pid: number
  readonly port: number | undefined
  readonly socketDir: string | undefined
  /** Address it listens on by TCP, if it does. */
  readonly tcpHost: string | undefined
  /** Whether it accepts connections, as opposed to starting or stopping. */
  readonly isReady: boolean
}

/**
 * Whose the process in postmaster.pid is:
 * `gone`: nobody's, the server ended without tidying up;
 * `ours`: the server of this folder, or a process about which too little can be seen to say it is not;
 * `alien`: certainly another program, which got the dead server's process id.
 */
export type Ownership = 'gone' | 'ours' | 'alien'

/** Path of the file that says which server runs on `data`. */
export function pidFile(data: string): string {
  return join(data, 'postmaster.pid')
}

/** Reads postmaster.pid; undefined when no server is noted there. */
export function readPostmaster(data: string): Postmaster | undefined {
  let lines: string[]
  try {
    lines = readFileSync(pidFile(data), 'utf8').split('\n')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return {
    pid,
    port: Number(lines[3]) || undefined,
    socketDir: lines[4]?.trim() || undefined,
    tcpHost: lines[5]?.trim() || undefined,
    isReady: lines[7]?.trim() === 'ready',
  }
}

/**
 * Tells whether the process in postmaster.pid is the server of `data`. In doubt it is: a living server's file must
 * never be taken away, because a second server on the same data destroys it.
 */
export function ownershipOf(pid: number, data: string): Ownership {
  if (!isAlive(pid)) return 'gone'
  const program = programOf(pid)
  if (program !== undefined && !/^(postgres|postmaster)/i.test(basename(program))) return 'alien'
  // A PostgreSQL works in its data folder, so a postgres at home elsewhere is another folder's server.
  return worksIn(pid, data) === false ? 'alien' : 'ours'
}
