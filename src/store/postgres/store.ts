import { SpillwayError } from '../../job/errors.js'
import type { Listening, Notice, Store } from '../store.js'
import { access } from './access.js'
import { answering } from './answering.js'
import { archiving } from './archiving.js'
import { bulk } from './bulk.js'
import { carrying } from './carrying.js'
import { Database } from './database.js'
import { diagnosing } from './diagnosing.js'
import { editing } from './editing.js'
import { eventing } from './eventing.js'
import { hooking } from './hooking.js'
import { idempotent } from './idempotent.js'
import { inspecting } from './inspecting.js'
import { Listener } from './listener.js'
import { measuring } from './measuring.js'
import { migrate, requireSchema, schemaStatus } from './migrate.js'
import { channelOf } from './notices.js'
import { Notifier } from './notifier.js'
import { operating } from './operating.js'
import { overseeing } from './overseeing.js'
import { producing } from './producing.js'
import { quarantining } from './quarantining.js'
import { enqueueQueries } from './queries/enqueue.js'
import { Replica } from './replica.js'
import { reporting } from './reporting.js'
import { running } from './running.js'
import { serving } from './serving.js'
import { triaging } from './triaging.js'
import { undecodables } from './undecodables.js'
import { upkeep } from './upkeep.js'

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string | (() => Promise<string>)
  /** Default: `spillway`. */
  readonly schema?: string
  /** Connections for everything but workers, which have three of their own and more as needed. Default: 10. */
  readonly maxConnections?: number
  /** A replica of it, from which lists of dead, held and finished jobs and of the audit are read. */
  readonly readUrl?: string
  /** Whether statements are prepared under names. Default: found out, because a transaction pooler may lose them. */
  readonly prepare?: boolean
  /** Whether to listen for notices; without it workers poll. Default: true. */
  readonly listen?: boolean
  /** Told of trouble that repairs itself, such as a connection that broke while idle. */
  readonly onError?: (error: Error) => void
}

/** The PostgreSQL store, and what only this adapter can answer. */
export interface PostgresStore extends Store {
  readonly schema: string
  /** @throws `schema_missing`, `schema_newer` */
  requireSchema(): Promise<void>
}

/** A store on PostgreSQL 15 or newer. Connects when it is first used. */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { url, schema = 'spillway', maxConnections = 10, prepare = 'auto', listen = true, onError } = options
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new SpillwayError(
      'invalid_option',
      `cannot use schema ${JSON.stringify(schema)}: a schema's name is 1 to 48 lower-case letters, digits and underscores`,
    )
  }
  const report = (error: Error) => onError?.(error)
  const db = new Database({ url, max: maxConnections, prepare, onError: report })
  const hearers = new Set<(notice: Notice) => void>()
  const hear = (notice: Notice) => {
    for (const hearer of hearers) hearer(notice)
  }
  const enqueues = enqueueQueries(schema)
  const channel = channelOf(schema)
  const notifier = new Notifier(db, schema, enqueues, hear)
  const duties = upkeep(db, schema)
  const replica = options.readUrl === undefined ? undefined : replicaOf(options.readUrl)
  const inspection = inspecting(db, schema, replica)
  const acting = <Part extends object>(part: Part) => replica?.noting(part) ?? part
  const measure = measuring(db, schema)
  const diagnose = diagnosing(db, schema, {
    measure,
    schemaStatus: () => schemaStatus(db, schema),
    inspection,
    hears: async () => {
      const probe = listener(
        () => undefined,
        () => undefined,
      )
      await probe.open()
      const { live } = probe
      await probe.close()
      return live
    },
  })

  function listener(onNotice: (notice: Notice) => void, onTrouble: (error: Error) => void): Listener {
    return new Listener(db, channel, onNotice, onTrouble, (text) => db.run(enqueues.notifyNow, [channel, text]))
  }

  function replicaOf(readUrl: string): Replica {
    return new Replica(db, new Database({ url: readUrl, max: maxConnections, prepare, onError: report }), report)
  }
  const quarantine = quarantining(db, schema)

  return {
    schema,
    capabilities: { listen, transactions: true },
    migrate: () => migrate(db, schema),
    schemaStatus: () => schemaStatus(db, schema),
    requireSchema: () => requireSchema(db, schema),
    async listen(onNotice): Promise<Listening> {
      hearers.add(onNotice)
      if (!listen) return { live: false, close: async () => void hearers.delete(onNotice) }
      const own = listener(onNotice, report)
      await own.open()
      return {
        get live() {
          return own.live
        },
        async close() {
          hearers.delete(onNotice)
          await own.close()
        },
      }
    },
    async close() {
      await notifier.close()
      await replica?.close()
      await db.close()
    },
    ...producing(db, schema, notifier),
    ...running(
      db,
      schema,
      notifier,
      () => duties.preparePartitions(),
      () => quarantine.finishReleases(),
    ),
    ...duties,
    ...inspection,
    ...acting(operating(db, schema)),
    ...acting(bulk(db, schema)),
    ...acting(editing(db, schema)),
    ...reporting(replica ?? db, schema),
    ...acting(carrying(db, schema, inspection)),
    ...answering(db, schema),
    ...eventing(db, schema),
    ...hooking(db, schema),
    ...serving(db, schema),
    ...acting(undecodables(db, schema)),
    ...acting(quarantine),
    ...acting(triaging(db, schema)),
    ...acting(archiving(db, schema)),
    ...acting(overseeing(db, schema)),
    ...acting(access(db, schema)),
    ...acting(idempotent(db, schema, notifier)),
    measure,
    diagnose,
  }
}
