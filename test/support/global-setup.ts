import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { postgresStore } from '../../src/store/postgres/store.js'
import { startOwnServer } from './own-server.js'
import { onServer, withDatabase } from './server.js'

/** What tests are told of the server that the run has. */
export interface TestServer {
  /** Any database of the server, to make others from. */
  readonly url: string
  /** A migrated database nobody is connected to, to copy. */
  readonly template: string
  /** How the names of this run's databases begin. */
  readonly prefix: string
}

declare module 'vitest' {
  interface ProvidedContext {
    server: TestServer
  }
}

interface Run {
  readonly server: TestServer
  users: number
  stop(): Promise<void>
}

/** Vitest runs this once for each project, in one process; the first starts the server, the last one out stops it. */
const SHARED = Symbol.for('spillway.test.run')
const shared = globalThis as { [SHARED]?: Promise<Run> | undefined }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[SHARED] ??= start()
  const run = await shared[SHARED]
  run.users += 1
  project.provide('server', run.server)
  return async () => {
    run.users -= 1
    if (run.users > 0) return
    shared[SHARED] = undefined
    await run.stop()
  }
}

async function start(): Promise<Run> {
  const prefix = `spillway_test_${randomBytes(4).toString('hex')}`
  const template = `${prefix}_template`
  const given = process.env['DATABASE_URL']
  const { url, stop } = given
    ? { url: given, stop: () => dropAll(given, prefix) }
    : await startOwnServer({ full_page_writes: 'off', max_connections: '300' })
  try {
    await onServer(url, (client) => client.query(`create database ${template}`))
    const store = postgresStore({ url: withDatabase(url, template) })
    await store.migrate()
    await store.close()
    // Copying needs a database without connections, and this keeps them off.
    await onServer(url, (client) => client.query(`alter database ${template} with allow_connections false`))
  } catch (error) {
    await stop()
    throw error
  }
  return { server: { url, template, prefix }, users: 0, stop }
}

/** On a server that is somebody else's, only what this run made is dropped. */
async function dropAll(url: string, prefix: string): Promise<void> {
  await onServer(url, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where starts_with(datname, $1)`,
      [prefix],
    )
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  })
}
