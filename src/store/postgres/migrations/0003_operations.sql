-- Bulk work as rows: operations, what they could not do, their canaries; idempotency keys; versions of payloads.
-- Adds tables; locks nothing that exists.

create table {{schema}}.operations (
  id bigint generated always as identity primary key,
  action text not null check (action in ('retry', 'discard', 'purge', 'move', 'undo')),
  selector json not null,
  params json not null,
  state text not null check (state in ('running', 'paused', 'done', 'cancelled', 'failed')),
  -- Why it paused or failed, in words.
  state_reason text,
  dry_run boolean not null default false,
  -- What a dry run found.
  preview json,
  -- What it is bound to: deaths this snapshot does not see are left alone.
  snapshot pg_snapshot not null default pg_current_snapshot(),
  phase text not null default 'counting' check (phase in ('counting', 'canary', 'moving', 'revisiting', 'newer', 'ended')),
  -- The last row looked at in this phase; for a list of ids, how many of them.
  cursor_at timestamptz not null default '-infinity',
  cursor_id bigint not null default 0,
  matched bigint not null default 0,
  succeeded bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  newer_left_alone bigint not null default 0,
  -- Rows a second; null: as fast as max_waiting lets it.
  rate double precision check (rate > 0),
  next_at timestamptz not null default now(),
  max_waiting integer not null default 5000 check (max_waiting >= 0),
  canary integer check (canary > 0),
  canary_until timestamptz,
  canary_passed boolean not null default false,
  abort_above double precision not null default 0 check (abort_above >= 0 and abort_above <= 1),
  hold_ms bigint not null default 300000,
  undo_of bigint references {{schema}}.operations (id),
  created_by text not null,
  reason text,
  request_id text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  runner text,
  runner_until timestamptz,
  constraint ended_operations_have_an_end check ((state in ('done', 'cancelled', 'failed')) = (finished_at is not null))
);
create index operations_open on {{schema}}.operations (id) where state = 'running';
create index operations_age on {{schema}}.operations (finished_at) where finished_at is not null;
create unique index operations_undone_once on {{schema}}.operations (undo_of)
  where undo_of is not null and state <> 'failed' and state <> 'cancelled';

-- Only what was not done is stored row by row; what was is found by last_operation. `pending` rows are looked at again
-- before the operation ends.
create table {{schema}}.operation_rows (
  operation_id bigint not null references {{schema}}.operations (id) on delete cascade,
  job_id bigint not null,
  outcome text not null check (outcome in ('pending', 'skipped', 'failed')),
  code text not null,
  message text not null,
  primary key (operation_id, job_id)
);

create table {{schema}}.operation_canaries (
  operation_id bigint not null references {{schema}}.operations (id) on delete cascade,
  job_id bigint not null,
  generation integer not null,
  primary key (operation_id, job_id)
);

create table {{schema}}.idempotency_keys (
  actor text not null,
  method text not null,
  path text not null,
  key text not null,
  request_hash text not null,
  status integer not null,
  answer json not null,
  created_at timestamptz not null default now(),
  primary key (actor, method, path, key)
);
create index idempotency_age on {{schema}}.idempotency_keys (created_at);

create table {{schema}}.payload_versions (
  job_id bigint not null,
  version integer not null,
  payload json not null,
  edited_at timestamptz not null default now(),
  edited_by text not null,
  reason text,
  primary key (job_id, version)
);

create index terminal_operation on {{schema}}.terminal_entries (last_operation, id) where last_operation is not null;
create index outbox_job on {{schema}}.event_outbox (job_id);
create index crashes_job on {{schema}}.crashes (job_id);
create index dlq_operation on {{schema}}.dlq_entries (last_operation, id) where last_operation is not null;
