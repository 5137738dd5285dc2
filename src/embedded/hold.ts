import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Address,
  type Connection,
  connect,
  KEEPER_PRESENT,
  ROLE,
  SERVER_IN_USE,
  servesData,
} from './connection.js'

/** This process's claim on a running server: while it is open, the keeper does not stop the server. */
export interface Hold {
  readonly address: Address
  /** Whether a keeper watched the server when the hold was opened. */
  readonly hasKeeper: boolean
  /** Whether database spillway had been created when the hold was opened. */
  readonly hasDatabase: boolean
  /** Gives the claim up. May be called twice. */
  close(): Promise<void>
}

/**
 * Claims the server at `address`. Does not keep the event loop alive. When the connection breaks (the server
 * restarts after a crash, an operator terminates it), it is opened again every second until {@link Hold.close}.
 *
 * @returns undefined when the server there works on other data.
 * Rejects when it cannot be reached, or is being stopped: then the claim came too late and nothing is held.
 */
export async function openHold(address: Address, password: string, data: string): Promise<Hold | undefined> {
  const first = await claim(address, password, data)
  if (first === undefined) return undefined
  let { client } = first
  let closed = false

  const keepOpen = async (): Promise<void> => {
    while (!closed) {
      await sleep(1000, undefined, { ref: false })
      if (closed) return
      // A failure is the server being away, and the next round is the answer to it.
      const again = await claim(address, password, data).catch(() => undefined)
      if (again === undefined) continue
      client = again.client
      if (closed) await client.end()
      else client.once('end', reopen)
      return
    }
  }
  const reopen = (): void => void keepOpen()
  client.once('end', reopen)

  return {
    address,
    hasKeeper: first.hasKeeper,
    hasDatabase: first.hasDatabase,
    async close() {
      if (closed) return
      closed = true
      // Awaited by the caller, so for this moment it may keep the process alive.
      client.ref()
      await client.end()
    },
  }
}

async function claim(
  address: Address,
  password: string,
  data: string,
): Promise<{ client: Connection; hasKeeper: boolean; hasDatabase: boolean } | undefined> {
  // Database postgres, because an idle connection would be in the way of dropping or copying database spillway.
  const client = await connect(address, password, 'postgres', 'spillway embedded hold')
  try {
    if (!(await servesData(client, data))) {
      await client.end()
      return undefined
    }
    // Waits while a keeper decides. If it stops the server, this connection ends with it, and the call rejects.
    await client.query('select pg_advisory_lock_shared($1)', [SERVER_IN_USE])
    const { rows } = await client.query<{ keeper: boolean; database: boolean }>(
      `select exists (select from pg_locks where locktype = 'advisory' and objid = $1 and granted) as keeper,
              exists (select from pg_database where datname = $2) as database`,
      [KEEPER_PRESENT, ROLE],
    )
    client.unref()
    return { client, hasKeeper: rows[0]?.keeper ?? false, hasDatabase: rows[0]?.database ?? false }
  } catch (error) {
    // Broken already, most likely; what matters is the first error.
    await client.end().catch(() => {})
    throw error
  }
}
