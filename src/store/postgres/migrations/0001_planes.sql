-- The planes: runnable, running, backlog, history, dead, held, control.
-- {{schema}} is replaced by the quoted name of the schema. One transaction, locks nothing that exists.

create sequence {{schema}}.job_ids;
create sequence {{schema}}.registrations;

-- The snapshot of a job: the columns that every plane carries. Generated into each table below,
-- so that a column cannot be forgotten in one of them.
create table {{schema}}.job_snapshot (
  id bigint not null,
  created_at timestamptz not null default now(),
  run_at timestamptz not null default now(),
  deadline timestamptz,
  release_id bigint,
  origin_id bigint,
  last_operation bigint,
  max_attempts integer not null default 20 check (max_attempts >= 1),
  attempt integer not null default 0,
  crash_attempt integer not null default 0,
  charge_base integer not null default 0,
  run_lease integer not null default 0,
  generation integer not null default 0,
  timeout_ms integer check (timeout_ms > 0),
  schema_version integer not null default 1,
  priority smallint not null default 50 check (priority between 0 and 100),
  handbacks smallint not null default 0,
  queue text not null,
  kind text not null,
  unique_key text,
  tags text[],
  metadata json,
  retention json,
  -- One element an entry: adding one neither parses nor checks the others.
  history json[],
  payload json not null
);
-- What moves often is neither compressed nor put aside: compressing 8 kB costs more than writing them.
alter table {{schema}}.job_snapshot alter column payload set storage external, alter column history set storage external;
comment on table {{schema}}.job_snapshot is 'Always empty: the template of the columns that every plane carries';

-- Runnable -----------------------------------------------------------------------------------

create table {{schema}}.ready_entries (
  like {{schema}}.job_snapshot including defaults including constraints including storage,
  position bigint not null,
  slot smallint not null
) partition by list (slot);

create table {{schema}}.leases (
  like {{schema}}.job_snapshot including defaults including constraints including storage,
  position bigint not null,
  lease_id bigint not null,
  claimed_at timestamptz not null default now(),
  slot smallint not null
) partition by list (slot);

-- Autovacuum stays off the slots: TRUNCATE reclaims them, and a vacuum of a slot would hold the lock that
-- TRUNCATE asks for without waiting, and replace the statistics that keep the plans right.
do $$
begin
  for k in 0..7 loop
    execute format('create table {{schema}}.%I partition of {{schema}}.ready_entries for values in (%s)
                      with (autovacuum_enabled = false, toast.autovacuum_enabled = false, toast_tuple_target = 8160)', 'ready_' || k, k);
    execute format('create index %I on {{schema}}.%I (queue, priority, position)', 'ready_' || k || '_claim', 'ready_' || k);
    execute format('create index %I on {{schema}}.%I (id)', 'ready_' || k || '_id', 'ready_' || k);
    execute format('create index %I on {{schema}}.%I (deadline) where deadline is not null',
                   'ready_' || k || '_deadline', 'ready_' || k);
    execute format('create index %I on {{schema}}.%I (last_operation, id) where last_operation is not null',
                   'ready_' || k || '_operation', 'ready_' || k);
    execute format('create table {{schema}}.%I partition of {{schema}}.leases for values in (%s)
                      with (autovacuum_enabled = false, toast.autovacuum_enabled = false, toast_tuple_target = 8160)', 'leases_' || k, k);
    execute format('create index %I on {{schema}}.%I (id)', 'leases_' || k || '_id', 'leases_' || k);
    execute format('create index %I on {{schema}}.%I (lease_id)', 'leases_' || k || '_lease', 'leases_' || k);
    execute format('create index %I on {{schema}}.%I (deadline) where deadline is not null',
                   'leases_' || k || '_deadline', 'leases_' || k);
  end loop;
end $$;

create table {{schema}}.attempt_state (
  job_id bigint primary key,
  lease_id bigint not null,
  progress json,
  updated_at timestamptz not null default now()
);

-- What a worker is to abort: left by whoever took the lease away.
create table {{schema}}.aborts (
  registration bigint not null,
  lease_id bigint not null,
  job_id bigint not null,
  reason text not null,
  at timestamptz not null default now(),
  primary key (registration, job_id, lease_id)
);

create table {{schema}}.ring_state (
  ring text primary key check (ring in ('ready', 'leases')),
  head smallint not null default 0 check (head between 0 and 7),
  rotated_at timestamptz not null default now(),
  rotated_position bigint not null default 0,
  truncated_at timestamptz not null default '-infinity'
);
insert into {{schema}}.ring_state (ring) values ('ready'), ('leases');

-- Backlog -----------------------------------------------------------------------------------

create table {{schema}}.deferred_jobs (
  like {{schema}}.job_snapshot including defaults including constraints including storage,
  state text not null check (state in ('scheduled', 'retryable', 'available')),
  position bigint,
  due_at timestamptz not null,
  set_aside smallint not null default 0,
  started_at timestamptz,
  primary key (id),
  constraint set_aside_jobs_keep_their_position check ((state = 'available') = (position is not null))
) with (toast_tuple_target = 8160);
create index deferred_due on {{schema}}.deferred_jobs (due_at);
create index deferred_queue on {{schema}}.deferred_jobs (queue, id);
create index deferred_kind on {{schema}}.deferred_jobs (kind, id);
create index deferred_operation on {{schema}}.deferred_jobs (last_operation, id) where last_operation is not null;
create index deferred_deadline on {{schema}}.deferred_jobs (deadline) where deadline is not null;

create table {{schema}}.waiting_jobs (
  like {{schema}}.job_snapshot including defaults including constraints,
  state text not null default 'waiting' check (state = 'waiting'),
  lease_id bigint not null,
  started_at timestamptz,
  waits_until timestamptz,
  callback_name text,
  callback_token bytea,
  callback_answer json,
  progress json,
  primary key (id)
);
create index waiting_until on {{schema}}.waiting_jobs (waits_until);
create index waiting_deadline on {{schema}}.waiting_jobs (deadline) where deadline is not null;
create index waiting_queue on {{schema}}.waiting_jobs (queue, id);

-- History -----------------------------------------------------------------------------------

create table {{schema}}.terminal_entries (
  like {{schema}}.job_snapshot including defaults including constraints,
  state text not null check (state in ('completed', 'failed', 'cancelled')),
  retention_class smallint not null,
  finalized_at timestamptz not null,
  started_at timestamptz,
  lease_id bigint,
  handler_running boolean not null default false,
  -- For failed ones the transaction that wrote them, as dlq_xid.
  failed_xid xid8,
  reason text,
  cause text,
  error_class text,
  error_message text,
  result json,
  progress json
) partition by range (retention_class, finalized_at);
create index terminal_id on {{schema}}.terminal_entries (id);
create index terminal_queue on {{schema}}.terminal_entries (queue, id);
create index terminal_failed on {{schema}}.terminal_entries (queue, finalized_at, id) where state = 'failed';
create index terminal_age on {{schema}}.terminal_entries (finalized_at);
create index terminal_own_retention on {{schema}}.terminal_entries (finalized_at) where retention is not null;

-- Dead --------------------------------------------------------------------------------------

create table {{schema}}.dlq_entries (
  like {{schema}}.job_snapshot including defaults including constraints,
  dlq_at timestamptz not null,
  dlq_reason text not null check (dlq_reason <> ''),
  original_run_lease integer not null,
  cause text not null,
  error_class text,
  error_message text,
  dlq_xid xid8,
  retain_from timestamptz not null,
  lease_id bigint,
  started_at timestamptz,
  progress json,
  primary key (id)
);
create index dlq_recent on {{schema}}.dlq_entries (dlq_at, id);
create index dlq_by_queue on {{schema}}.dlq_entries (queue, dlq_at, id);
create index dlq_by_kind on {{schema}}.dlq_entries (kind, dlq_at, id);
create index dlq_by_reason on {{schema}}.dlq_entries (dlq_reason, dlq_at, id);
create index dlq_by_cause on {{schema}}.dlq_entries (cause, dlq_at, id);
create index dlq_own_retention on {{schema}}.dlq_entries (dlq_at) where retention is not null;
-- What died after an operation was bound, found without a walk over all that it has moved.
create index dlq_new on {{schema}}.dlq_entries (dlq_xid) where dlq_xid is not null;

create table {{schema}}.dlq_tags (
  tag text not null,
  dlq_at timestamptz not null,
  id bigint not null,
  primary key (tag, dlq_at, id)
);

create table {{schema}}.dlq_bin (
  like {{schema}}.dlq_entries including defaults including constraints,
  from_state text not null check (from_state in ('archived', 'quarantined', 'undecodable')),
  held json,
  discarded_at timestamptz not null,
  discard_operation bigint,
  primary key (id)
);
create index bin_age on {{schema}}.dlq_bin (discarded_at);
create index bin_operation on {{schema}}.dlq_bin (discard_operation);

create table {{schema}}.dlq_causes (
  queue text not null,
  cause text not null,
  kind text not null,
  reason text not null,
  error_class text,
  title text,
  sample_id bigint,
  first_at timestamptz not null,
  last_at timestamptz not null,
  count bigint not null default 0,
  primary key (queue, cause)
);
create index causes_kind on {{schema}}.dlq_causes (queue, kind);

-- Append-only changes of a cause's count, folded into dlq_causes by the maintenance leader.
create table {{schema}}.cause_deltas (
  queue text not null,
  cause text not null,
  n integer not null,
  at timestamptz not null default now()
);

-- Held --------------------------------------------------------------------------------------

create table {{schema}}.held_entries (
  like {{schema}}.job_snapshot including defaults including constraints,
  state text not null check (state in ('quarantined', 'undecodable')),
  held_at timestamptz not null,
  held_reason text not null,
  fingerprint text,
  lease_id bigint,
  started_at timestamptz,
  progress json,
  primary key (id)
);
create index held_queue on {{schema}}.held_entries (queue, id);
create index held_state on {{schema}}.held_entries (state, held_at, id);
create index held_fingerprint on {{schema}}.held_entries (fingerprint) where fingerprint is not null;

-- Control -----------------------------------------------------------------------------------

create table {{schema}}.control (
  one boolean primary key default true check (one),
  policy_version bigint not null default 1,
  quarantine_version bigint not null default 1,
  system_identifier text
);
insert into {{schema}}.control default values;

create table {{schema}}.queues (
  queue text primary key check (queue <> ''),
  dlq_enabled boolean not null default true,
  paused_at timestamptz,
  paused_by text,
  paused_reason text,
  retention jsonb not null default '{}',
  policy jsonb not null default '{}',
  updated_at timestamptz not null default now()
);

create table {{schema}}.workers (
  registration bigint primary key,
  name text not null,
  host text not null,
  boot_id text not null,
  pid_namespace text not null,
  pid integer not null,
  pid_started text not null,
  state text not null default 'running' check (state in ('running', 'stopping')),
  queues text[] not null,
  kinds text[] not null,
  concurrency integer not null,
  version text not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

create table {{schema}}.leaders (
  name text primary key,
  holder text not null,
  expires_at timestamptz not null,
  written_at timestamptz not null default now(),
  -- Since when it has written without a long gap: silence of others means nothing before.
  writing_since timestamptz not null default now()
);

-- What is left of a registration that ended, until the leases it may have left are taken back.
create table {{schema}}.ended_workers (
  registration bigint primary key,
  name text not null,
  host text not null,
  state text not null,
  heartbeat_at timestamptz not null,
  ended_at timestamptz not null default now()
);

-- A trigger, so that nobody who ends a registration can forget whether its leases are to be charged.
create function {{schema}}.remember_ended_worker() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into {{schema}}.ended_workers (registration, name, host, state, heartbeat_at)
  values (old.registration, old.name, old.host, old.state, old.heartbeat_at)
  on conflict do nothing;
  return null;
end $$;
create trigger remember_ended_worker after delete on {{schema}}.workers
  for each row execute function {{schema}}.remember_ended_worker();

create table {{schema}}.duties (
  duty text primary key,
  last_success_at timestamptz,
  last_error text,
  last_error_at timestamptz
);

create table {{schema}}.requests (
  uuid uuid primary key,
  ids bigint[] not null,
  -- One letter a job: where it went (r ready, d deferred, k its key was taken); null: all ready.
  places text,
  at timestamptz not null default now()
);
create index requests_age on {{schema}}.requests (at);

create table {{schema}}.unique_keys (
  key text primary key,
  job_id bigint not null
);

create table {{schema}}.crashes (
  id bigint generated always as identity primary key,
  fingerprint text,
  job_id bigint not null,
  registration bigint not null,
  host text,
  alone boolean not null,
  at timestamptz not null default now()
);
create index crashes_fingerprint on {{schema}}.crashes (fingerprint, at);
create index crashes_age on {{schema}}.crashes (at);

-- Append-only: what entered and left, for rates and for the one-place checker.
create table {{schema}}.counters (
  queue text not null,
  kind text not null,
  reason text not null,
  what text not null,
  minute timestamptz not null default date_trunc('minute', now()),
  n bigint not null
);
create index counters_minute on {{schema}}.counters (minute);

create table {{schema}}.event_outbox (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  type text not null,
  job_id bigint not null,
  queue text not null,
  kind text not null,
  generation integer not null,
  reason text,
  cause text,
  message text
);

create table {{schema}}.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  target json not null,
  reason text,
  result json,
  request_id text
);
create index audit_recent on {{schema}}.audit_log (at);

-- Functions ---------------------------------------------------------------------------------

-- Appends one entry to a job's history and keeps its bounds: the first 5 and the newest 45 entries, 256 KiB;
-- stacks of the middle go first. What is dropped is counted in a marker that stands after the first 5.
create function {{schema}}.append_history(history json[], entry text) returns json[]
language plpgsql immutable parallel safe as $$
declare
  entries json[] := array_append(history, entry::json);
  n integer := cardinality(entries);
  marker integer := 0;
  dropped bigint := 1;
  total bigint;
begin
  if n <= 50 and pg_column_size(entries) < 258048 then
    return entries;
  end if;
  if n > 5 and entries[6] ->> 'type' = 'dropped' then
    marker := 1;
    dropped := dropped + (entries[6] ->> 'count')::bigint;
  end if;
  if n - marker > 50 then
    entries := entries[1:5] || json_build_object('type', 'dropped', 'count', dropped) || entries[n - 44 : n];
    n := cardinality(entries);
  end if;
  select sum(octet_length(value::text) + 1) into total from unnest(entries) value;
  -- From the second towards the newest: first the stacks, then the messages of the middle.
  for i in 2 .. n - 1 loop
    exit when total < 258048;
    if entries[i] ->> 'stack' is not null then
      total := total - octet_length(entries[i]::text);
      entries[i] := (entries[i]::jsonb - 'stack' - 'cause' || '{"truncated": true}')::json;
      total := total + octet_length(entries[i]::text);
    end if;
  end loop;
  for i in 2 .. n - 1 loop
    exit when total < 258048;
    if entries[i] ->> 'message' is not null then
      total := total - octet_length(entries[i]::text);
      entries[i] := (entries[i]::jsonb || jsonb_build_object('message', left(entries[i] ->> 'message', 200), 'truncated', true))::json;
      total := total + octet_length(entries[i]::text);
    end if;
  end loop;
  return entries;
end $$;

-- How long a job is kept in ms, null for good: its own word, else its queue's, else the default.
create function {{schema}}.effective_retention(of_job json, of_queue jsonb, key text, fallback bigint) returns bigint
language sql immutable parallel safe as $$
  select case
    when of_job::jsonb ? key then (of_job ->> key)::bigint
    when of_queue ? key then (of_queue ->> key)::bigint
    else fallback
  end
$$;

-- 0: kept at most a day, 1: a week, 2: 30 days, 3: longer or for ever.
create function {{schema}}.retention_class(ms bigint) returns smallint
language sql immutable parallel safe as $$
  select (case when ms is null then 3 when ms <= 86400000 then 0 when ms <= 604800000 then 1
               when ms <= 2592000000 then 2 else 3 end)::smallint
$$;

-- Makes the daily partitions of terminal_entries for the given days. CREATE … LIKE + ATTACH, because a plain
-- `create … partition of` takes ACCESS EXCLUSIVE on the parent. Does nothing for those that exist.
create function {{schema}}.ensure_terminal_partitions(from_day date, to_day date) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  made integer := 0;
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtext('{{schema}}.terminal_partitions'));
  for class in 0..3 loop
    for day in select d::date from generate_series(from_day, to_day, interval '1 day') d loop
      name := format('terminal_%s_%s', class, to_char(day, 'YYYYMMDD'));
      if to_regclass(format('{{schema}}.%I', name)) is null then
        execute format('create table {{schema}}.%I (like {{schema}}.terminal_entries including defaults including constraints including indexes)', name);
        execute format('alter table {{schema}}.terminal_entries attach partition {{schema}}.%I for values from (%s, %L) to (%s, %L)',
                       name, class, day::timestamp at time zone 'UTC', class, (day + 1)::timestamp at time zone 'UTC');
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end $$;

-- Empties a slot that has no live row. Never waits: a waiting TRUNCATE would make every claim queue behind it. Whoever
-- reads the slot, or wrote to it and has not committed, makes it answer false, without an error in the log.
create function {{schema}}.reclaim_slot(ring text, slot integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  occupied boolean;
begin
  if ring not in ('ready', 'leases') or slot not between 0 and 7 then
    raise exception 'there is no slot % of ring %', slot, ring;
  end if;
  execute format('lock table {{schema}}.%I in access exclusive mode nowait', ring || '_' || slot);
  execute format('select exists (select from {{schema}}.%I)', ring || '_' || slot) into occupied;
  if occupied then
    return false;
  end if;
  execute format('truncate {{schema}}.%I', ring || '_' || slot);
  update {{schema}}.ring_state r set truncated_at = now() where r.ring = reclaim_slot.ring;
  return true;
exception when lock_not_available then
  return false;
end $$;

select {{schema}}.ensure_terminal_partitions((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 7);

-- Fills, analyses and empties every slot: statistics outlive TRUNCATE, and without them the planner sorts a whole
-- slot for each claim (15 ms instead of 0.1).
do $$
declare
  k integer;
begin
  for k in 0..7 loop
    execute format('insert into {{schema}}.%I (id, position, slot, queue, kind, payload)
                      select n, n, %s, ''queue '' || n %% 4, ''kind '' || n %% 10, ''{"n":1}'' from generate_series(1, 2000) n',
                   'ready_' || k, k);
    execute format('insert into {{schema}}.%I (id, position, lease_id, slot, queue, kind, payload)
                      select n, n, n / 100, %s, ''queue '' || n %% 4, ''kind '' || n %% 10, ''{"n":1}'' from generate_series(1, 2000) n',
                   'leases_' || k, k);
    execute format('analyze {{schema}}.%I, {{schema}}.%I', 'ready_' || k, 'leases_' || k);
  end loop;
  analyze {{schema}}.ready_entries, {{schema}}.leases;
  -- In a subtransaction: a TRUNCATE in the one that made the table keeps its row count, and the planner, finding no
  -- page, would take the slot for empty for good and plan every claim as a sort of the whole.
  begin
    truncate {{schema}}.ready_entries, {{schema}}.leases;
  exception when query_canceled then
    raise;
  end;
end $$;

-- The cause a death is counted under: its own, or `other` once a kind has 1,000 causes on that queue.
create function {{schema}}.cause_for(of_queue text, of_kind text, own text) returns text
language sql stable as $$
  select case
    when exists (select from {{schema}}.dlq_causes where queue = of_queue and cause = own) then own
    when (select count(*) from (select from {{schema}}.dlq_causes where queue = of_queue and kind = of_kind limit 1000) known) < 1000
      then own
    else 'other'
  end
$$;
