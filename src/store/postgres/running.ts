import type { Running, Settlement, WorkerInfo, WorkerSession } from '../store.js'
import type { Database } from './database.js'
import { DeathWriter } from './death-writer.js'
import { channelOf } from './notices.js'
import type { Notifier } from './notifier.js'
import { callbackQueries } from './queries/callbacks.js'
import { claimQueries } from './queries/claim.js'
import { servedQueries } from './queries/served.js'
import { sessionQueries } from './queries/session.js'
import { ASIDE_ROWS, setAsideQueries } from './queries/set-aside.js'
import { settleQueries } from './queries/settle.js'
import { suspectQueries } from './queries/suspects.js'
import { Session } from './session.js'
import { Settler } from './settler.js'
import { SuspectWatch } from './suspect-watch.js'

/** So much of what was set aside comes back with a registration; the rest with the next pass of maintenance. */
const BACK_AT_ONCE = 5

/** Workers on PostgreSQL. Each session has connections of its own: one for claims, two for settling; others as needed. */
export function running(
  db: Database,
  schema: string,
  notifier: Notifier,
  preparePartitions: () => Promise<unknown>,
  finishReleases: () => Promise<unknown>,
): Running {
  const claims = claimQueries(schema)
  const session = sessionQueries(schema)
  const settle = settleQueries(schema)
  const callbacks = callbackQueries(schema)
  const served = servedQueries(schema)
  const aside = setAsideQueries(schema)
  const channel = channelOf(schema)

  async function bringBack(): Promise<void> {
    try {
      for (let n = 0; n < BACK_AT_ONCE; n++) {
        const [back] = await db.run(aside.bringBack, [ASIDE_ROWS, channel])
        if (Number(back?.[0]) < ASIDE_ROWS) return
      }
      // There is more: maintenance looks at once.
      notifier.tell({ type: 'policy' })
    } catch {
      // The registration stands, and the next pass of maintenance brings them back.
    }
  }
  const suspects = suspectQueries(schema)

  return {
    async survived(registration) {
      const freed = await db.run(suspects.survived, [registration, channel], { repeatable: true })
      if (freed.length > 0) await finishReleases()
    },

    async register(info: WorkerInfo): Promise<WorkerSession> {
      const kinds = [...new Set(info.serves.map(({ kind, version }) => `${kind}@${version}`))]
      const [row] = await db.run(
        session.register,
        [
          info.name,
          info.host,
          info.bootId,
          info.pidNamespace,
          info.pid,
          info.pidStarted,
          [...info.queues],
          kinds,
          info.concurrency,
          info.version,
          [...(info.deathTxKinds ?? [])],
          info.schemas === undefined ? null : JSON.stringify(info.schemas),
        ],
        // A registration whose answer was lost stays behind without a lease, and is ended when it goes stale.
        { repeatable: true },
      )
      await bringBack()
      const tell = (notice: Parameters<Notifier['tell']>[0]) => notifier.tell(notice)
      const reported = new Set<string>()
      const hasReported = (group: readonly Settlement[]) => group.some(({ job }) => reported.has(job.id))
      const lane = db.lane(1)
      const registration = (row as [string])[0]
      return new Session({
        reported,
        claims,
        session,
        callbacks,
        questions: served,
        setAside: aside.setAside,
        settler: new Settler(db.lane(2), settle, preparePartitions, tell, hasReported, channel),
        deaths: new DeathWriter(db.lane(2), settle, preparePartitions, tell, hasReported),
        lane,
        beside: db.lane(1),
        registration,
        queues: info.queues,
        served: info.serves,
        watch: new SuspectWatch({
          lane,
          queries: suspects,
          registration,
          served: info.serves,
          channel,
          finishReleases,
        }),
        tell,
      })
    },
  }
}
