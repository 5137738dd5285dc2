import { Fragment, Identifier, sql } from '../sql.js'

export type NewOperationParams = [
  action: string,
  selector: string,
  params: string,
  dryRun: boolean,
  rate: number | null,
  maxWaiting: number,
  canary: number | null,
  abortAbove: number,
  holdMs: number,
  undoOf: string | null,
  createdBy: string,
  reason: string | null,
  requestId: string | null,
  /** A preview whose snapshot binds it; null: what is there now. */
  preview: string | null,
  phase: string,
  state: string,
]

/** In the order of {@link OPERATION}. */
export type OperationRow = (string | null)[]

const OPERATION = [
  'id',
  'action',
  'selector::text',
  'params::text',
  'state',
  'state_reason',
  'dry_run',
  'preview::text',
  'snapshot::text',
  'phase',
  `to_char(cursor_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  'cursor_id',
  'matched',
  'succeeded',
  'skipped',
  'failed',
  'newer_left_alone',
  'rate',
  "date_part('epoch', next_at - clock_timestamp()) * 1000",
  'max_waiting',
  'canary',
  "date_part('epoch', canary_until - clock_timestamp()) * 1000",
  'canary_passed',
  'abort_above',
  'hold_ms',
  'undo_of',
  'created_by',
  'reason',
  "date_part('epoch', created_at) * 1000",
  "date_part('epoch', started_at) * 1000",
  "date_part('epoch', finished_at) * 1000",
  "(select u.id from {{operations}} u where u.undo_of = o.id and u.state not in ('failed', 'cancelled') limit 1)",
  'vanished',
] as const

/** The columns of an {@link OperationRow}, read from `operations` under the alias `o`. */
export function operationColumns(schema: string): Fragment {
  const { quoted } = new Identifier(schema, 'operations')
  return new Fragment(OPERATION.map((column) => column.replace('{{operations}}', quoted)).join(', '))
}

export function operationQueries(schema: string) {
  const operations = new Identifier(schema, 'operations')
  const rows = new Identifier(schema, 'operation_rows')
  const canaries = new Identifier(schema, 'operation_canaries')
  const audit = new Identifier(schema, 'audit_log')
  const row = operationColumns(schema)

  return {
    /** A new operation with its audit row. A preview's snapshot and selector bind it. */
    create: sql<NewOperationParams, [id: string]>`
      with made as (
        insert into ${operations}
               (action, selector, params, dry_run, rate, max_waiting, canary, abort_above, hold_ms, undo_of, created_by,
                reason, request_id, snapshot, phase, state, finished_at)
        select $1, $2::json, $3::json, $4::boolean, $5::float8, $6::integer, $7::integer, $8::float8, $9::bigint,
               $10::bigint, $11, $12, $13,
               coalesce((select p.snapshot from ${operations} p where p.id = $14::bigint), pg_current_snapshot()),
               $15, $16, case when $16 in ('done', 'cancelled', 'failed') then now() end
        returning id
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $11, $1, json_build_object('operation', id::text, 'selector', $2::json), $12,
               json_build_object('dry_run', $4::boolean), $13
          from made
      )
      select id from made`,

    get: sql<[id: string], OperationRow>`
      select ${row} from ${operations} o where id = $1::bigint`,

    /** Newest first, of ids below $1. */
    list: sql<[before: string, limit: number], OperationRow>`
      select ${row} from ${operations} o where id < $1::bigint order by o.id desc limit $2`,

    /**
     * Takes or keeps the right to run one, for $3 ms. Locks the row, so a batch of another runner is waited for. No row:
     * it does not run, or another process is at it.
     */
    take: sql<[id: string, runner: string, ttlMs: number], OperationRow>`
      with taken as (
        update ${operations}
           set runner = $2, runner_until = clock_timestamp() + $3 * interval '1 millisecond',
               started_at = coalesce(started_at, now())
         where id = $1::bigint and state = 'running'
           and (runner is null or runner = $2 or runner_until < clock_timestamp())
        returning *
      )
      select ${row} from taken o`,

    /** One that runs and that nobody is running. Index: operations_open. */
    orphan: sql<[], [id: string]>`
      select id from ${operations}
       where state = 'running' and (runner is null or runner_until < now())
       order by id limit 1`,

    /**
     * Where a step has left it. Part of the step's transaction. At the end, what was counted and is in no total was moved by
     * others before it came there: it vanished, and is skipped.
     */
    account: sql<
      [
        id: string,
        phase: string,
        cursorAt: string,
        cursorId: string,
        matched: number,
        succeeded: number,
        skipped: number,
        failed: number,
        newer: number,
        paceMs: number,
        state: string,
        stateReason: string | null,
        preview: string | null,
      ],
      OperationRow
    >`
      with summed as (
        select id, matched + $5::bigint as matched,
               succeeded + $6::bigint + skipped + $7::bigint + failed + $8::bigint as accounted,
               $11 = 'done' and not dry_run as has_ended
          from ${operations} where id = $1::bigint
      ),
      changed as (
        update ${operations} o
           set phase = $2, cursor_at = $3::timestamptz, cursor_id = $4::bigint,
               -- An undo may bring rows back after they were counted: they belong to it, and are done like the others.
               matched = greatest(s.matched, s.accounted),
               succeeded = succeeded + $6::bigint, failed = failed + $8::bigint,
               skipped = skipped + $7::bigint + case when s.has_ended then greatest(s.matched - s.accounted, 0) else 0 end,
               vanished = case when s.has_ended then greatest(s.matched - s.accounted, 0) else 0 end,
               newer_left_alone = newer_left_alone + $9::bigint,
               next_at = greatest(next_at, clock_timestamp() - interval '100 milliseconds') + $10::float8 * interval '1 millisecond',
               state = $11, state_reason = $12, preview = coalesce($13::json, preview),
               finished_at = case when $11 in ('done', 'cancelled', 'failed') then now() end
          from summed s
         where o.id = s.id
        returning o.*
      ),
      -- Work and account are one commit, so what a crash of the server takes back is done again. The next step, or whatever
      -- is committed elsewhere, brings this one to the disk; the last waits for it.
      eased as (select set_config('synchronous_commit', 'off', true) where $11 = 'running')
      select ${row} from changed o where (select count(*) from eased) >= 0`,

    /** Notes what was not done, and why; what was noted as pending is replaced. */
    note: sql<[id: string, jobIds: string[], outcomes: string[], codes: string[], messages: string[]], []>`
      insert into ${rows} (operation_id, job_id, outcome, code, message)
      select $1::bigint, job_id, outcome, code, message
        from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as r(job_id, outcome, code, message)
      on conflict (operation_id, job_id) do update
         set outcome = excluded.outcome, code = excluded.code, message = excluded.message`,

    /** What has to be looked at again, of ids above $2, $3 at most. */
    pending: sql<[id: string, after: string, limit: number], [jobId: string, code: string]>`
      select job_id, code from ${rows}
       where operation_id = $1::bigint and job_id > $2::bigint and outcome = 'pending'
       order by job_id limit $3`,

    settlePending: sql<[id: string, jobIds: string[]], []>`
      delete from ${rows} where operation_id = $1::bigint and job_id = any ($2::bigint[]) and outcome = 'pending'`,

    /** What it did not do, of ids above $2. Index: the primary key, as a range over it. */
    rowsOf: sql<
      [id: string, after: string, limit: number],
      [jobId: string, outcome: string, code: string, message: string]
    >`
      select job_id, outcome, code, message from ${rows}
       where (operation_id, job_id) > ($1::bigint, $2::bigint) and operation_id <= $1::bigint
       order by operation_id, job_id limit $3`,

    /** The jobs a canary sent ahead, in the generation it gave them. Its time begins to run with $3, when all are sent. */
    sendAhead: sql<[id: string, jobIds: string[], holdMs: number | null], []>`
      with sent as (
        insert into ${canaries} (operation_id, job_id, generation)
        select $1::bigint, r.id, r.generation
          from (select id, generation from ${new Identifier(schema, 'ready_entries')} where id = any ($2::bigint[])
                union all
                select id, generation from ${new Identifier(schema, 'deferred_jobs')} where id = any ($2::bigint[])) as r
      )
      update ${operations} set canary_until = clock_timestamp() + $3::float8 * interval '1 millisecond' where id = $1::bigint`,

    /**
     * What became of the canaries: an attempt ended well, badly, or not yet. A failed attempt is a failure, whether or
     * not it will be retried; so is a crash.
     */
    canaries: sql<[id: string], [jobId: string, outcome: 'ok' | 'failed' | 'open']>`
      select c.job_id,
             case
               when exists (select from ${new Identifier(schema, 'ready_entries')} r
                             where r.id = c.job_id and r.generation = c.generation)
                 then 'open'
               when exists (select from ${new Identifier(schema, 'deferred_jobs')} d
                             where d.id = c.job_id and d.generation = c.generation and d.state = 'available')
                 or exists (select from ${new Identifier(schema, 'waiting_jobs')} w
                             where w.id = c.job_id and w.generation = c.generation)
                 then 'open'
               when exists (select from ${new Identifier(schema, 'leases')} l
                             where l.id = c.job_id and l.generation = c.generation
                               and l.attempt + l.crash_attempt <= l.charge_base)
                 then 'open'
               when exists (select from ${new Identifier(schema, 'deferred_jobs')} d
                             where d.id = c.job_id and d.generation = c.generation and d.state = 'scheduled' and d.started_at is null)
                 then 'open'
               when exists (select from ${new Identifier(schema, 'deferred_jobs')} d
                             where d.id = c.job_id and d.generation = c.generation and d.state = 'scheduled')
                 then 'ok'
               when exists (select from ${new Identifier(schema, 'terminal_entries')} t
                             where t.id = c.job_id and t.state = 'completed')
                 then 'ok'
               when exists (select from ${new Identifier(schema, 'dlq_entries')} d where d.id = c.job_id)
                 or exists (select from ${new Identifier(schema, 'deferred_jobs')} d where d.id = c.job_id)
                 or exists (select from ${new Identifier(schema, 'leases')} l where l.id = c.job_id)
                 or exists (select from ${new Identifier(schema, 'held_entries')} h where h.id = c.job_id)
                 or exists (select from ${new Identifier(schema, 'terminal_entries')} t where t.id = c.job_id)
                 then 'failed'
               -- Revoked, or completed where nothing is kept.
               else 'ok'
             end
        from ${canaries} c
       where c.operation_id = $1::bigint`,

    passCanary: sql<[id: string], []>`
      update ${operations} set canary_passed = true where id = $1::bigint`,

    /** running ↔ paused, running or paused → cancelled: $2 is where it goes, $3 from where. With its audit row. */
    control: sql<
      [
        id: string,
        to: string,
        from: string[],
        stateReason: string | null,
        actor: string,
        reason: string | null,
        requestId: string | null,
        channel: string,
      ],
      OperationRow
    >`
      with changed as (
        update ${operations}
           set state = $2, state_reason = $4, runner = null, runner_until = null,
               -- Going on after a canary has failed is the operator's word that the rest may follow.
               canary_passed = canary_passed or ($2 = 'running' and phase = 'canary' and state_reason is not null),
               finished_at = case when $2 = 'cancelled' then now() end
         where id = $1::bigint and state = any ($3::text[])
        returning *
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $5, case $2 when 'running' then 'resume_operation' when 'paused' then 'pause_operation' else 'cancel_operation' end,
               json_build_object('operation', id::text), $6, json_build_object('state', state), $7
          from changed
      ),
      told as (select pg_notify($8, 'o') from changed)
      select ${row} from changed o, told`,

    setRate: sql<
      [
        id: string,
        rate: number | null,
        maxWaiting: number | null,
        actor: string,
        reason: string | null,
        requestId: string | null,
        channel: string,
        keepRate: boolean,
      ],
      OperationRow
    >`
      with changed as (
        update ${operations}
           set rate = case when $8::boolean then rate else $2::float8 end, max_waiting = coalesce($3::integer, max_waiting), next_at = clock_timestamp()
         where id = $1::bigint and state in ('running', 'paused')
        returning *
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $4, 'set_rate', json_build_object('operation', id::text), $5,
               json_build_object('rate', rate, 'max_waiting', max_waiting), $6
          from changed
      ),
      told as (select pg_notify($7, 'o') from changed)
      select ${row} from changed o, told`,

    /** running → failed, with the error, unless another runner has it by now. */
    fail: sql<[id: string, runner: string, why: string], []>`
      update ${operations}
         set state = 'failed', state_reason = $3, finished_at = now(), runner = null, runner_until = null
       where id = $1::bigint and state = 'running' and (runner is null or runner = $2 or runner_until < clock_timestamp())`,

    notify: sql<[channel: string], []>`select pg_notify($1, 'o')`,
  }
}
