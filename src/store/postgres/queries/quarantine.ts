import type { BlockedRow } from '../job-row.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'

/** What a list says of a fingerprint, as text. */
export type QuarantineRow = [
  fingerprint: string,
  kind: string,
  queue: string,
  heldAt: string,
  exactHeldAt: string,
  convicted: 't' | 'f',
  releasing: 't' | 'f',
  canaryJob: string | null,
  held: string,
  crashes: string,
  lastCrashAt: string | null,
]

/** The document of a detail. */
export interface QuarantineDocument {
  readonly crashes: readonly {
    readonly at: number
    readonly worker: string | null
    readonly host: string | null
    readonly job_id: string
    readonly alone: boolean
    readonly counted: boolean
    readonly closed_by: string | null
  }[]
  readonly jobs: readonly {
    readonly id: string
    readonly queue: string
    readonly state: string
    readonly reason: string | null
    readonly at: number
  }[]
  readonly blocked: number
  readonly blocked_partial: boolean
}

/** Rows of a kind that a count of what is blocked looks at. */
const LOOKED = 20_000

/** Held fingerprints: which there are, and what is known of each. Letting them go is queries/release.ts. */
export function quarantineQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const quarantine = table('quarantine')
  const held = table('held_entries')
  const crashes = table('crashes')
  const ms = (column: string) => new Fragment(`date_part('epoch', ${column}) * 1000`)
  const isQuarantined = fragment`h.state = 'quarantined' and h.fingerprint is not null`

  /** The fingerprints there are: convicted ones, and those of jobs that are held by themselves. */
  const known = fragment`
      select q.fingerprint, q.kind, q.queue, q.held_at, q.release_id is null as convicted, q.release_id is not null as releasing,
             q.canary_job
        from ${quarantine} q
      union all
      select distinct on (h.fingerprint) h.fingerprint, h.kind, h.queue, h.held_at, false, false, null::bigint
        from ${held} h
       where ${isQuarantined} and not exists (select from ${quarantine} q where q.fingerprint = h.fingerprint)`
  const summary = fragment`
      k.fingerprint, k.kind, k.queue, ${ms('k.held_at')},
      to_char(k.held_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), k.convicted, k.releasing, k.canary_job,
      (select count(*) from ${held} h where h.fingerprint = k.fingerprint and h.state = 'quarantined'),
      (select count(*) from ${crashes} c where c.fingerprint = k.fingerprint and c.counted),
      (select ${ms('max(c.at)')} from ${crashes} c where c.fingerprint = k.fingerprint)`

  return {
    /** Newest first. Index: held_fingerprint, crashes_fingerprint for what stands beside each. */
    list: sql<[beforeAt: string, before: string, limit: number], QuarantineRow>`
      select ${summary}
        from (select * from (${known}) as every
               where (held_at, fingerprint) < ($1::timestamptz, $2)
               order by held_at desc, fingerprint desc
               limit $3) as k
       order by k.held_at desc, k.fingerprint desc`,

    get: sql<[fingerprint: string], QuarantineRow>`
      select ${summary}
        from (${known}) as k
       where k.fingerprint = $1`,

    /** What a detail adds: the newest 200 crashes, 100 jobs that are held, 100 that wait and are blocked, and how many. */
    detail: sql<[fingerprint: string, kind: string], [document: string]>`
      with waiting as materialized (
        select w.id, w.queue, w.state, w.at
          from ((select id, queue, 'available' as state, run_at as at, payload, release_id
                   from ${table('ready_entries')} where kind = $2 limit ${new Fragment(String(LOOKED))})
                union all
                (select id, queue, state, due_at, payload, release_id
                   from ${table('deferred_jobs')} where kind = $2 limit ${new Fragment(String(LOOKED))})) as w
         where w.release_id is null and md5($2 || E'\n' || w.payload::text) = $1
           and exists (select from ${quarantine} q where q.fingerprint = $1 and q.release_id is null)
      )
      select json_build_object(
        'crashes', (select coalesce(json_agg(json_build_object('at', ${ms('c.at')}, 'worker', c.worker, 'host', c.host,
                           'job_id', c.job_id::text, 'alone', c.alone, 'counted', c.counted, 'closed_by', c.closed_by)
                           order by c.at desc, c.id desc), '[]')
                      from (select * from ${crashes} where fingerprint = $1 order by at desc, id desc limit 200) as c),
        'jobs', (select coalesce(json_agg(json_build_object('id', j.id::text, 'queue', j.queue, 'state', j.state,
                        'reason', j.reason, 'at', ${ms('j.at')})), '[]')
                   from ((select h.id, h.queue, h.state, h.held_reason as reason, h.held_at as at
                            from ${held} h where h.fingerprint = $1 and h.state = 'quarantined' order by h.id limit 100)
                         union all
                         (select id, queue, state, null, at from waiting order by id limit 100)) as j),
        'blocked', (select count(*) from waiting),
        'blocked_partial', (select count(*) from (select from ${table('ready_entries')} where kind = $2
                             limit ${new Fragment(String(LOOKED))}) as r) = ${new Fragment(String(LOOKED))})::text`,

    /** A payload of the fingerprint, as stored. */
    sample: sql<[fingerprint: string], [payload: string]>`
      select payload from ${held} h where h.fingerprint = $1 and h.state = 'quarantined' order by id limit 1`,

    /** Why a job that waits does not run, or which fingerprint a held one has. Index: those on id. */
    blockedBy: sql<[id: string], BlockedRow>`
      with waiting as materialized (
        select md5(w.kind || E'\n' || w.payload::text) as fingerprint, w.release_id
          from (select kind, payload, release_id from ${table('ready_entries')} where id = $1::bigint
                union all
                select kind, payload, release_id from ${table('deferred_jobs')} where id = $1::bigint) as w
         where exists (select from ${quarantine}) or exists (select from ${crashes} where closed_at is null)
      )
      select w.fingerprint, ${ms('q.held_at')}, 'quarantined'
        from waiting w join ${quarantine} q on q.fingerprint = w.fingerprint and q.release_id is null
       where w.release_id is null
      union all
      select w.fingerprint, ${ms('min(c.at)')}, 'suspected'
        from waiting w join ${crashes} c on c.fingerprint = w.fingerprint and c.closed_at is null and c.expires_at > now()
       group by w.fingerprint
      union all
      select h.fingerprint, ${ms('h.held_at')}, 'quarantined'
        from ${held} h where h.id = $1::bigint and ${isQuarantined}`,
  }
}

/** Whether anything is quarantined: one look at a table that is mostly empty, before payloads are hashed. */
export function somethingQuarantined(schema: string): Fragment {
  return fragment`(select exists (select from ${new Identifier(schema, 'quarantine')} where release_id is null))`
}

/** Whether the fingerprint of a kind and a payload is quarantined; hashes only while something is. */
export function quarantinedNow(schema: string, kind: string, payload: string): Fragment {
  return fragment`(case when ${somethingQuarantined(schema)}
      then md5(${new Fragment(kind)} || E'\n' || (${new Fragment(payload)})::text)
           = any (array(select fingerprint from ${new Identifier(schema, 'quarantine')} where release_id is null))
      else false end)`
}
