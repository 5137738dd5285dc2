import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'

/** Whether a process of this id runs, ours or anybody's. A zombie does not: it can do nothing more. */
export function isAlive(pid: number): boolean {
  return isIdTaken(pid) && linuxStat(pid)?.state !== 'Z'
}

/** Whether the id is in use, be it by a zombie; this is all that PostgreSQL looks at. */
export function isIdTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it exists, and is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * A text that tells this process from any other that had or will have its id; undefined where the
 * platform does not say (then only the id can be compared).
 */
export function birthOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const start = linuxStat(pid)?.startTicks
    return start === undefined ? undefined : `${bootId()}:${start}`
  }
  return process.platform === 'win32' ? undefined : ps(pid, 'lstart')
}

/** Path or name of the program a process runs; undefined when it cannot be seen. */
export function programOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return process.platform === 'win32' ? undefined : ps(pid, 'comm')
  return readOr(`/proc/${pid}/cmdline`)?.split('\0')[0] || undefined
}

/** Whether the process works in this very folder, under whatever name; undefined when that cannot be seen. */
export function worksIn(pid: number, folder: string): boolean | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const theirs = statSync(`/proc/${pid}/cwd`)
    const ours = statSync(folder)
    return theirs.dev === ours.dev && theirs.ino === ours.ino
  } catch {
    // Another user's process does not show its folder: unknown, and the caller must not guess.
    return undefined
  }
}

function linuxStat(pid: number): { state: string; startTicks: string } | undefined {
  const text = process.platform === 'linux' ? readOr(`/proc/${pid}/stat`) : undefined
  // The name in parentheses may hold spaces and parentheses; the fields are counted after its end.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, startTicks] = [fields?.[0], fields?.[19]]
  return state === undefined || startTicks === undefined ? undefined : { state, startTicks }
}

function bootId(): string {
  return readOr('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

function ps(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-ww', '-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' })
    return text.trim() || undefined
  } catch {
    // ps fails for a process that is gone.
    return undefined
  }
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Gone, or hidden from us: both mean that nothing is known.
    return undefined
  }
}
