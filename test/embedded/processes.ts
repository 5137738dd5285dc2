import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A running process that belongs to an embedded database. */
export interface Found {
  pid: number
  role: 'keeper' | 'postgres' | 'initdb'
}

/** The server's processes (all of them) and the keepers of the database in `dir`; Linux only, from /proc. */
export function processesOf(dir: string): Found[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): Found[] => {
      const pid = Number(name)
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
        if (words.includes(join(dir, 'keeper.mjs'))) return [{ pid, role: 'keeper' }]
        const mentions = words.some((word) => word.includes(dir))
        if (mentions && basename(words[0] ?? '') === 'initdb') return [{ pid, role: 'initdb' }]
        const isPostgres = basename(words[0] ?? '').startsWith('postgres')
        return isPostgres && (mentions || readlinkSync(`/proc/${name}/cwd`).startsWith(dir))
          ? [{ pid, role: 'postgres' }]
          : []
      } catch {
        // It ended while we looked.
        return []
      }
    })
}

/** Waits until `condition` holds; rejects with `what` after `timeoutMs`. Answers how long it took. */
export async function until(
  what: string,
  timeoutMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const start = Date.now()
  while (!(await condition())) {
    if (Date.now() - start > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(25)
  }
  return Date.now() - start
}
