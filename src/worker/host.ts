import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** What tells one process from every other, also from a later one with the same pid. */
export interface ProcessIdentity {
  readonly host: string
  /** New at each boot, so that pids of an earlier one are not mistaken for ours. */
  readonly bootId: string
  /** Containers on one host have pids of their own. */
  readonly pidNamespace: string
  readonly pid: number
  readonly pidStarted: string
}

/** This process. Where the system does not tell, the part is the same for every process of the host. */
export function identify(): ProcessIdentity {
  return {
    host: hostname(),
    bootId: read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? 'unknown',
    pidNamespace: read(() => readlinkSync('/proc/self/ns/pid')) ?? 'host',
    pid: process.pid,
    pidStarted: startOf(process.pid) ?? String(Math.round(Date.now() - process.uptime() * 1000)),
  }
}

/** Whether the process that had this pid and start time is still there; true when it cannot be known. */
export function isAlive(pid: number, pidStarted: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const started = startOf(pid)
  return started === undefined || started === pidStarted
}

/** Start time in clock ticks since boot: field 22 of /proc/PID/stat, counted behind the command's closing bracket. */
function startOf(pid: number): string | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

function read<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    // Not this system's way of telling.
    return undefined
  }
}
