import { realpathSync } from 'node:fs'
import pg from 'pg'
import type { Postmaster } from './postmaster.js'

/** Superuser, and name of the database callers get. */
export const ROLE = 'spillway'

/**
 * Advisory locks in database postgres. Every library process holds SERVER_IN_USE shared; the keeper takes it
 * exclusively before it stops the server, so of "one more attaches" and "it stops" exactly one happens.
 */
export const SERVER_IN_USE = 7_745_001
export const KEEPER_PRESENT = 7_745_002

/** Where a client reaches a running server. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** A client of `pg`, which can (its types do not say so) be kept from holding the event loop. */
export type Connection = pg.Client & { ref(): void; unref(): void }

/** Prefers the Unix socket: nothing else can sit on it, and it is faster than TCP. */
export function addressOf({ socketDir, tcpHost, port }: Postmaster): Address | undefined {
  const host = process.platform === 'win32' ? tcpHost : socketDir
  return host === undefined || port === undefined ? undefined : { host, port }
}

/** A connection that is open; the caller ends it. Rejects as `pg` does. */
export async function connect(address: Address, password: string, database: string, name: string): Promise<Connection> {
  const client = new pg.Client({
    host: address.host,
    port: address.port,
    user: ROLE,
    password,
    database,
    ssl: false,
    application_name: name,
    connectionTimeoutMillis: 10_000,
  })
  // Without a listener a connection that breaks while idle would end the whole process.
  client.on('error', () => {})
  await client.connect()
  return client as Connection
}

/** Whether the server behind `client` really works on `data`, and is not another one at the same address. */
export async function servesData(client: pg.Client, data: string): Promise<boolean> {
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  try {
    return realpathSync(rows[0]?.data_directory ?? '') === realpathSync(data)
  } catch {
    // Its folder does not exist (any more) where it says: not this one.
    return false
  }
}

/** Creates database spillway. To be called under the start lock, when it is not there. */
export async function createDatabase(address: Address, password: string): Promise<void> {
  const client = await connect(address, password, 'postgres', 'spillway embedded start')
  try {
    // template0, because a client connected to template1 would make this fail.
    await client.query(`create database ${ROLE} template template0`)
  } finally {
    await client.end()
  }
}

/**
 * The url for callers. Host and port by TCP stand in front, the socket in a parameter: what knows the parameter
 * (libpq, pg) uses the socket, the rest connects by TCP. `sslmode` because PGSSLMODE may ask for what is not there.
 */
export function urlOf(address: Address, password: string): string {
  const url = new URL(`postgres://${ROLE}:${password}@127.0.0.1:${address.port}/${ROLE}`)
  if (address.host.startsWith('/')) url.searchParams.set('host', address.host)
  url.searchParams.set('sslmode', 'disable')
  return url.href
}
