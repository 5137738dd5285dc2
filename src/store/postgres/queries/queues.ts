import { Identifier, sql } from '../sql.js'

/** A queue as it is stored, in the order of the select lists below. */
export type QueueRow = [
  queue: string,
  dlqEnabled: string,
  retention: string,
  policy: string,
  pausedAt: string | null,
  pausedBy: string | null,
  pausedReason: string | null,
  updatedAt: string | null,
]

export type WorkerRow = [
  registration: string,
  name: string,
  host: string,
  pid: string,
  state: 'running' | 'stopping',
  queues: string,
  kinds: string,
  concurrency: string,
  running: string,
  startedAt: string,
  heartbeatAt: string,
]

type ActParams = [actor: string, reason: string | null, requestId: string | null, channel: string]

export function queueQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const queues = table('queues')

  return {
    /** No row: nothing was ever set, and the defaults hold. */
    get: sql<[queue: string], QueueRow>`
      select queue, dlq_enabled, retention, policy, date_part('epoch', paused_at) * 1000, paused_by, paused_reason,
             date_part('epoch', updated_at) * 1000
        from ${queues}
       where queue = $1`,

    /** Every queue that was set, or that a job, a dead letter or a worker names. Reads the live planes whole. */
    list: sql<[], QueueRow>`
      select known.queue, coalesce(q.dlq_enabled, true), coalesce(q.retention, '{}'), coalesce(q.policy, '{}'),
             date_part('epoch', q.paused_at) * 1000, q.paused_by, q.paused_reason,
             date_part('epoch', q.updated_at) * 1000
        from (select queue from ${queues}
              union select queue from ${table('ready_entries')}
              union select queue from ${table('leases')}
              union select queue from ${table('deferred_jobs')}
              union select queue from ${table('waiting_jobs')}
              union select queue from ${table('held_entries')}
              union select queue from ${table('dlq_causes')}
              union select unnest(queues) from ${table('workers')}) as known(queue)
        left join ${queues} q on q.queue = known.queue
       order by known.queue`,

    /**
     * Jobs per queue and state, of one queue ($1) or all; dead letters by their causes, ended ones not at all. Index:
     * ready_N_claim, deferred_queue, waiting_queue, held_queue, where one queue is named.
     */
    counts: sql<[queue: string | null], [queue: string, state: string, n: string]>`
      select queue, state, sum(n)
        from (select queue, 'available' as state, count(*) as n from ${table('ready_entries')}
               where $1::text is null or queue = $1 group by queue
              union all
              select queue, 'running', count(*) from ${table('leases')}
               where $1::text is null or queue = $1 group by queue
              union all
              select queue, state, count(*) from ${table('deferred_jobs')}
               where $1::text is null or queue = $1 group by queue, state
              union all
              select queue, 'waiting', count(*) from ${table('waiting_jobs')}
               where $1::text is null or queue = $1 group by queue
              union all
              select queue, state, count(*) from ${table('held_entries')}
               where $1::text is null or queue = $1 group by queue, state
              union all
              select queue, 'archived', sum(count) from ${table('dlq_causes')}
               where $1::text is null or queue = $1 group by queue
              union all
              select queue, 'archived', sum(n) from ${table('cause_deltas')}
               where $1::text is null or queue = $1 group by queue) as counted
       group by queue, state`,

    /**
     * Lays a patch over what is stored; an absent key keeps its value. Every process hears of it. Locks the queue's row
     * and the control row, in this order.
     */
    set: sql<
      [queue: string, ...ActParams, dlqEnabled: boolean | null, retention: string, policy: string, patch: string],
      [...QueueRow, notified: string]
    >`
      with changed as (
        insert into ${queues} as q (queue, dlq_enabled, retention, policy)
        values ($1, coalesce($6::boolean, true), $7::jsonb, $8::jsonb)
            on conflict (queue) do update
           set dlq_enabled = coalesce($6::boolean, q.dlq_enabled),
               retention = q.retention || excluded.retention,
               policy = q.policy || excluded.policy,
               updated_at = now()
        returning q.queue, q.dlq_enabled, q.retention, q.policy, q.paused_at, q.paused_by, q.paused_reason, q.updated_at
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2, 'set_queue', json_build_object('queue', queue), $3, $9::json, $4 from changed
      )
      select queue, dlq_enabled, retention, policy, date_part('epoch', paused_at) * 1000, paused_by, paused_reason,
             date_part('epoch', updated_at) * 1000, pg_notify($5, 'p')
        from changed`,

    /** Nobody claims from the queue any more; paused again it keeps the time of the first. */
    pause: sql<[queue: string, ...ActParams], [...QueueRow, notified: string]>`
      with changed as (
        insert into ${queues} as q (queue, paused_at, paused_by, paused_reason)
        values ($1, now(), $2, $3)
            on conflict (queue) do update
           set paused_at = coalesce(q.paused_at, now()), paused_by = $2, paused_reason = $3, updated_at = now()
        returning q.queue, q.dlq_enabled, q.retention, q.policy, q.paused_at, q.paused_by, q.paused_reason, q.updated_at
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2, 'pause_queue', json_build_object('queue', queue), $3, json_build_object('paused', true), $4
          from changed
      )
      select queue, dlq_enabled, retention, policy, date_part('epoch', paused_at) * 1000, paused_by, paused_reason,
             date_part('epoch', updated_at) * 1000, pg_notify($5, 'p')
        from changed`,

    /** Claims go on. */
    resume: sql<[queue: string, ...ActParams], [...QueueRow, notified: string]>`
      with changed as (
        insert into ${queues} as q (queue)
        values ($1)
            on conflict (queue) do update
           set paused_at = null, paused_by = null, paused_reason = null, updated_at = now()
        returning q.queue, q.dlq_enabled, q.retention, q.policy, q.paused_at, q.paused_by, q.paused_reason, q.updated_at
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $2, 'resume_queue', json_build_object('queue', queue), $3, json_build_object('paused', false), $4
          from changed
      )
      select queue, dlq_enabled, retention, policy, date_part('epoch', paused_at) * 1000, paused_by, paused_reason,
             date_part('epoch', updated_at) * 1000, pg_notify($5, 'p')
        from changed`,

    /** Registered processes, and how many leases each holds. Index: leases_N_lease. */
    workers: sql<[], WorkerRow>`
      select w.registration, w.name, w.host, w.pid, w.state, array_to_json(w.queues), array_to_json(w.kinds), w.concurrency,
             (select count(*) from ${table('leases')} l
               where l.lease_id >= w.registration << 36 and l.lease_id < (w.registration + 1) << 36),
             date_part('epoch', w.started_at) * 1000, date_part('epoch', w.heartbeat_at) * 1000
        from ${table('workers')} w
       order by w.registration`,
  }
}
