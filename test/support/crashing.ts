import type { Given } from 'spillway/testing'
import { fingerprintOf } from '../../src/job/fingerprint.js'
import type { Job } from '../../src/job/job.js'
import type { Database } from '../../src/store/postgres/database.js'
import { sql } from '../../src/store/postgres/sql.js'
import type { Store } from '../../src/store/store.js'

export const STALE_MS = 45_000

/** The ways in which a job takes its process with it: what that is called, the payload for it, what the process needs. */
export const POISONS: readonly (readonly [how: string, payload: object, settings: { readonly memory?: number }])[] = [
  ['leaves by exit', { do: 'exit' }, {}],
  ['aborts', { do: 'abort' }, {}],
  ['is killed', { do: 'die' }, {}],
  ['uses up the memory', { do: 'hoard' }, { memory: 64 }],
]

/** The fingerprint of the jobs that the factories make. */
export function fingerprintOfTest(payload: object = {}, kind = 'test'): string {
  return fingerprintOf(kind, JSON.stringify(payload))
}

/** Crashes without processes, for tests of what follows from them. */
export function crashing(store: Store, given: Given, db: Database) {
  const endWorker = (registration: string) =>
    db.run(sql<[string], []>`delete from spillway.workers where registration = $1`, [registration])

  /** A worker that runs the jobs and dies with them. */
  async function crash(payloads: readonly object[], worker: Parameters<Given['worker']>[0] = {}): Promise<Job[]> {
    const registration = await given.worker(worker)
    const jobs: Job[] = []
    for (const payload of payloads) jobs.push(await given.job({ state: 'running', registration, payload }))
    await endWorker(registration)
    await store.rescue(STALE_MS, 3)
    return jobs
  }

  return {
    crash,
    endWorker,
    /** A fingerprint whose jobs have killed three workers, each alone; the last of them is held. */
    async convict(payload: object = {}): Promise<Job> {
      const jobs = [...(await crash([payload])), ...(await crash([payload])), ...(await crash([payload]))]
      await db.run(sql<[string], []>`delete from spillway.deferred_jobs where id <> $1`, ['0'])
      return jobs[2] as Job
    },
    async convicted(): Promise<readonly string[]> {
      const rows = await db.run(
        sql<[], [string]>`select fingerprint from spillway.quarantine where release_id is null order by fingerprint`,
        [],
      )
      return rows.map(([fingerprint]) => fingerprint)
    },
    /** Counted crashes of a fingerprint that stand against it. */
    async open(payload: object = {}): Promise<number> {
      const [row] = await db.run(
        sql<[string], [string]>`
          select count(*) from spillway.crashes where fingerprint = $1 and counted and closed_at is null`,
        [fingerprintOfTest(payload)],
      )
      return Number(row?.[0])
    },
  }
}
