import { randomUUID } from 'node:crypto'
import type pg from 'pg'

/** What stands between this process and the server. */
export interface Way {
  /** Something answers in the server's place and gives connections of its own: a pooler. */
  readonly isPooled: boolean
  /** Statements prepared under a name are found again. */
  readonly keepsNames: boolean
}

const ROUNDS = 3
const WAIT_MS = 2_000

/**
 * Finds out by asking, not by what a url looks like: a pooler makes up the number that a connection is told at its
 * start, and the server tells the real one.
 *
 * @param connected - Any connection of the way.
 * @param another - Makes one more, not connected yet.
 */
export async function probeWay(connected: pg.ClientBase, another: () => Promise<pg.Client>): Promise<Way> {
  const told = (connected as unknown as { readonly processID?: number }).processID
  if ((await backendOf(connected)) === told) return { isPooled: false, keepsNames: true }
  return { isPooled: true, keepsNames: await keepsNames(another) }
}

/**
 * Prepares a statement under a name, has another connection take the server connection it was prepared on, and asks for
 * it again. Where that one cannot be taken, each connection has a session of its own, and names last.
 */
async function keepsNames(another: () => Promise<pg.Client>): Promise<boolean> {
  const clients = [await another(), await another()] as const
  const [asking, taking] = clients
  const name = `sw_way_${randomUUID()}`
  try {
    for (const client of clients) {
      client.on('error', () => undefined)
      await client.connect()
    }
    for (let round = 0; round < ROUNDS; round++) {
      const before = await backendOf(asking, name)
      await taking.query('begin')
      const taken = await backendOf(taking)
      // With one server connection for all, this waits for the other's end.
      const after = await within(WAIT_MS, backendOf(asking, name))
      await taking.query('rollback')
      if (after === undefined) return false
      if (taken === before) return true
    }
    return true
  } catch {
    // The name was not found on the other connection, or was there already: it cannot be relied upon.
    return false
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
  }
}

async function backendOf(client: pg.ClientBase, name?: string): Promise<number> {
  const named = name === undefined ? {} : { name }
  const { rows } = await client.query<[string]>({ ...named, text: 'select pg_backend_pid()', rowMode: 'array' })
  return Number(rows[0]?.[0])
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** What is known of the way, shared by all connections that take it. */
export class Road {
  private found: Promise<Way> | undefined

  /** @param keepsNames - Where the user has said so; undefined: it is found out. */
  constructor(public keepsNames: boolean | undefined) {}

  /** Probes once; a probe that fails is tried again by the next caller. */
  find(probe: () => Promise<Way>): Promise<Way> {
    this.found ??= probe().then(
      (way) => {
        this.keepsNames ??= way.keepsNames
        return way
      },
      (error: unknown) => {
        this.found = undefined
        throw error
      },
    )
    return this.found
  }
}
