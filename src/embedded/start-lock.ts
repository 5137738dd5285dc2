import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { EmbeddedError } from './embedded-error.js'
import { birthOf, isAlive } from './process-identity.js'

interface Holder {
  pid: number
  birth: string | null
  token: string
}

/**
 * Runs `work` while no other process (and no other call in this one) runs theirs under the same lock file.
 *
 * A holder that died, however it died, does not keep the others out: the file says which process holds it, and
 * counts for nothing once that process is gone.
 *
 * @throws {@link EmbeddedError} `embedded_unavailable` when a living process keeps the lock for `timeoutMs`.
 */
export async function withStartLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const token = await acquire(path, Date.now() + timeoutMs)
  try {
    return await work()
  } finally {
    release(path, token)
  }
}

async function acquire(path: string, deadline: number): Promise<string> {
  const mine: Holder = { pid: process.pid, birth: birthOf(process.pid) ?? null, token: randomBytes(6).toString('hex') }
  const draft = `${path}.${mine.token}.new`
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o644 })
  try {
    while (!tryLink(draft, path)) {
      const holder = readHolder(path)
      if (holder && !lives(holder)) {
        await breakLock(path, holder, deadline)
        continue
      }
      if (Date.now() > deadline) {
        const who = holder ? `process ${holder.pid}` : 'another process'
        throw new EmbeddedError(
          `cannot start the embedded database: ${who} has been holding ${path} for too long; wait for it, or end it`,
        )
      }
      await sleep(20 + Math.random() * 30)
    }
    return mine.token
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes the lock of a dead holder. Two that saw the same dead holder must not both remove: the second would take
 * away what the first has acquired since. So removing is itself done under a lock, one named for the dead holder,
 * and only while the file still names that holder.
 */
async function breakLock(path: string, dead: Holder, deadline: number): Promise<void> {
  const grave = `${path}.${dead.token}`
  const token = await acquire(grave, deadline)
  try {
    if (readHolder(path)?.token === dead.token) rmSync(path, { force: true })
  } finally {
    release(grave, token)
  }
}

function release(path: string, token: string): void {
  if (readHolder(path)?.token === token) rmSync(path, { force: true })
}

/** A hard link appears with its content, so no one ever reads a half-written lock. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder
  } catch {
    // Released between our attempt and this look: the next attempt will tell.
    return undefined
  }
}

function lives(holder: Holder): boolean {
  return isAlive(holder.pid) && (holder.birth === null || birthOf(holder.pid) === holder.birth)
}
