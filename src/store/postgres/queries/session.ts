import { columns, moved } from '../rows.js'
import { Fragment, fragment, Identifier, sql } from '../sql.js'
import { claimQueries, type HeadRow } from './claim.js'
import { noticesOfHeld } from './held.js'
import { withEntry } from './history.js'

export type WorkerParams = [
  name: string,
  host: string,
  bootId: string,
  pidNamespace: string,
  pid: number,
  pidStarted: string,
  queues: string[],
  kinds: string[],
  concurrency: number,
  version: string,
  deathTxKinds: string[],
  /** `{kind: {version, schema}}`; null where no kind has one. */
  schemas: string | null,
]

/** The document that comes with a pulse. */
export interface PulseDocument {
  readonly policy: string
  readonly quarantine: string
  readonly now: number
  readonly paused: readonly string[] | null
  readonly questions: boolean
  readonly aborts: readonly (readonly [jobId: string, leaseId: string, reason: string])[] | null
}

export function sessionQueries(schema: string) {
  const { look } = claimQueries(schema)
  const workers = new Identifier(schema, 'workers')
  const leases = new Identifier(schema, 'leases')
  const aborts = new Identifier(schema, 'aborts')
  const queues = new Identifier(schema, 'queues')
  const control = new Identifier(schema, 'control')
  const attempts = new Identifier(schema, 'attempt_state')
  const head = fragment`(select head from ${new Identifier(schema, 'ring_state')} where ring = 'ready')`

  return {
    /**
     * A new registration, on disk before its first claim: claims may be lost in a crash of the server, and a lease id
     * must not be given twice.
     */
    register: sql<WorkerParams, [registration: string]>`
      insert into ${workers}
             (registration, name, host, boot_id, pid_namespace, pid, pid_started, queues, kinds, concurrency, version,
              death_tx_kinds, schemas)
       values (nextval('${new Identifier(schema, 'registrations')}'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::json)
      returning registration`,

    /** Keeps a registration alive. No row: it was ended. */
    beat: sql<[registration: string], [registration: string]>`
      update ${workers} set heartbeat_at = now() where registration = $1 returning registration`,

    /** Marks a registration as stopping: what it holds is returned uncharged when the process has gone. */
    stopping: sql<[registration: string], []>`
      update ${workers} set state = 'stopping', heartbeat_at = now() where registration = $1`,

    /** Ends a registration. Its leases, if any are left, are returned by the rescue. */
    end: sql<[registration: string], []>`
      delete from ${workers} where registration = $1`,

    /**
     * What a worker has to know, in one look: a row for each head of its queues (see `look`), and one, of slot -1, whose
     * first column is a JSON document of versions, paused queues and aborts.
     */
    pulse: sql<[queues: string[], registration: string], HeadRow>`
      (${new Fragment(look.text)})
      union all
      select json_build_object(
               'policy', c.policy_version::text,
               'quarantine', c.quarantine_version::text,
               'now', date_part('epoch', clock_timestamp()) * 1000,
               'paused', (select json_agg(queue) from ${queues} where queue = any ($1::text[]) and paused_at is not null),
               'questions', exists (select from ${new Identifier(schema, 'worker_tasks')} where answer is null),
               'aborts', (select json_agg(json_build_array(job_id::text, lease_id::text, reason))
                            from ${aborts} where registration = $2))::text,
             -1, null, null
        from ${control} c`,

    /** Forgets aborts that were acted upon. */
    aborted: sql<[registration: string, jobIds: string, leaseIds: string], []>`
      delete from ${aborts} a
       using unnest($2::bigint[], $3::bigint[]) as g(job_id, lease_id)
       where a.registration = $1 and a.job_id = g.job_id and a.lease_id = g.lease_id`,

    /**
     * running → available: leases between $1 and $2 that the worker does not hold, because the answer to its claim was
     * lost. Uncharged, at their old position. Index: leases_N_lease. The worker never sends a claim that is still
     * unanswered as upper end, so nothing it is about to run is taken from it.
     */
    returnUnheld: sql<[from: string, to: string, heldJobs: string, heldLeases: string], [id: string]>`
      with gone as (
        delete from ${leases} l
         where l.lease_id between $1::bigint and $2::bigint
           and not exists (select from unnest($3::bigint[], $4::bigint[]) as h(job_id, lease_id)
                            where h.job_id = l.id and h.lease_id = l.lease_id)
        returning ${moved('l', { handbacks: 'l.handbacks + 1 as handbacks' }, 'l.position', 'l.claimed_at', 'l.lease_id')}
      ),
      back as (
        insert into ${new Identifier(schema, 'ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, 'g.position', head.quoted)}
          from gone g
         where g.handbacks < 10
      ),
      held as (
        insert into ${new Identifier(schema, 'held_entries')}
               (${columns('state', 'held_at', 'held_reason', 'fingerprint', 'lease_id', 'started_at')})
        select ${moved(
          'g',
          {
            ...withEntry(
              schema,
              'g',
              `json_build_object('type', 'handed_back', 'at', now(), 'generation', g.generation, 'attempt', g.attempt, 'handbacks', g.handbacks)::text`,
            ),
          },
          "'quarantined'",
          'now()',
          "'handed_back'",
          "md5(g.kind || E'\\n' || g.payload::text)",
          'g.lease_id',
          'g.claimed_at',
        )}
          from gone g
         where g.handbacks >= 10
        returning id, queue, kind, generation, held_reason, fingerprint
      ),
      ${noticesOfHeld(schema, 'held')}
      select id from gone`,

    /** Keeps what a handler reports, as long as it holds the lease. No row: it does not. */
    progress: sql<[jobId: string, leaseId: string, progress: string], [jobId: string]>`
      insert into ${attempts} (job_id, lease_id, progress)
      select l.id, l.lease_id, $3::json from ${leases} l where l.id = $1 and l.lease_id = $2
      on conflict (job_id) do update
         set lease_id = excluded.lease_id, progress = excluded.progress, updated_at = now()
      returning job_id`,
  }
}
