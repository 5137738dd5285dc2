-- Quarantine by fingerprint. Adds tables, columns that are empty, and indexes on tables that are small; locks them for
-- milliseconds. Replaces the function enqueue(…): it has one argument more.

-- Convicted fingerprints. A row with a release_id is being let go: it blocks nothing any more, and what it held moves in
-- batches until the row goes too.
create table {{schema}}.quarantine (
  fingerprint text primary key,
  kind text not null,
  queue text not null,
  held_at timestamptz not null default now(),
  -- The job whose crash convicted it.
  job_id bigint,
  release_id bigint,
  -- Released ahead of the others, which follow when it succeeds.
  canary_job bigint,
  canary_release bigint
);
create index quarantine_recent on {{schema}}.quarantine (held_at, fingerprint);

-- Ids of releases; a released job carries one until it ends.
create sequence {{schema}}.releases;

-- Which worker of a queue runs suspects by themselves now.
create table {{schema}}.suspect_turns (
  queue text primary key,
  registration bigint not null,
  taken_at timestamptz not null default now()
);

alter table {{schema}}.crashes
  add column kind text not null default '',
  add column queue text not null default '',
  add column worker text,
  -- Of the registration: when it began, when it last said that it was alive, when it was found to have ended.
  add column began_at timestamptz,
  add column lost_at timestamptz,
  add column ended_at timestamptz,
  -- False for what is only another trace of a crash that has been counted.
  add column counted boolean not null default true,
  add column crash_limit integer not null default 3,
  -- Of the job before the crash: counted on where it turns out that it was none.
  add column handbacks smallint not null default 0,
  add column expires_at timestamptz not null default now() + interval '24 hours',
  -- No longer held against the fingerprint: since a success, a release, or the worker's own word that it lives.
  add column closed_at timestamptz,
  add column closed_by text;
create index crashes_open on {{schema}}.crashes (fingerprint) where closed_at is null;
create index crashes_registration on {{schema}}.crashes (registration);

alter table {{schema}}.ended_workers
  add column started_at timestamptz,
  -- Tells registrations of one process: what is one's company is the other's.
  add column process text;
create index ended_workers_process on {{schema}}.ended_workers (process);

create or replace function {{schema}}.remember_ended_worker() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into {{schema}}.ended_workers (registration, name, host, state, heartbeat_at, started_at, process)
  values (old.registration, old.name, old.host, old.state, old.heartbeat_at, old.started_at,
          concat_ws(' ', old.host, old.boot_id, old.pid_namespace, old.pid, old.pid_started))
  on conflict do nothing;
  return null;
end $$;

-- What quarantine counts on: equal for jobs of one kind with the same payload, byte for byte.
create function {{schema}}.fingerprint(kind text, payload json) returns text
language sql immutable parallel safe as $$
  select md5(kind || E'\n' || payload::text)
$$;

update {{schema}}.held_entries
   set fingerprint = {{schema}}.fingerprint(kind, payload)
 where state = 'quarantined' and fingerprint is null;

drop function {{schema}}.enqueue(text, json, text, integer, timestamptz, integer, timestamptz, integer, text, text[], json, integer);

-- Stores one job in the caller's transaction: visible when it commits, gone when it rolls back. Workers hear of it with
-- the commit. Returns the job's id. Raises unique_violation with the holder's id where the key is taken,
-- object_not_in_prerequisite_state with the fingerprint where that is quarantined (on_quarantine => 'park' holds the job
-- with the others instead), and invalid_parameter_value, naming the path, where something is refused; then nothing is
-- stored.
create function {{schema}}.enqueue(
  kind text,
  payload json default '{}',
  queue text default 'default',
  priority integer default 50,
  run_at timestamptz default null,
  max_attempts integer default 20,
  deadline timestamptz default null,
  timeout_ms integer default null,
  unique_key text default null,
  tags text[] default null,
  metadata json default null,
  version integer default 1,
  on_quarantine text default 'refuse'
) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_id bigint := nextval('{{schema}}.job_ids');
  at timestamptz := coalesce(run_at, now());
  bad text;
  holder bigint;
  blocked text;
begin
  if coalesce(length(kind), 0) not between 1 and 255 then
    raise exception 'cannot enqueue: kind must have 1 to 255 characters' using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(length(queue), 0) not between 1 and 255 then
    raise exception 'cannot enqueue %: queue must have 1 to 255 characters', kind using errcode = 'invalid_parameter_value';
  end if;
  if payload is null then
    raise exception 'cannot enqueue %: the payload is null; JSON null is written ''null''', kind
      using errcode = 'invalid_parameter_value';
  end if;
  if priority not between 0 and 100 or max_attempts not between 1 and 32767 then
    raise exception 'cannot enqueue %: priority is 0 to 100, max_attempts 1 to 32767', kind
      using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(on_quarantine, '') not in ('refuse', 'park') then
    raise exception 'cannot enqueue %: on_quarantine is refuse or park', kind using errcode = 'invalid_parameter_value';
  end if;
  if octet_length(payload::text) > 1048576 then
    raise exception 'cannot enqueue %: the payload has % bytes, and at most 1048576 are accepted',
      kind, octet_length(payload::text) using errcode = 'invalid_parameter_value';
  end if;
  bad := coalesce({{schema}}.unstorable_path(payload, 'payload'), {{schema}}.unstorable_path(metadata, 'metadata'));
  if bad is not null then
    raise exception 'cannot enqueue %: the text at % holds U+0000 or half a surrogate pair', kind, bad
      using errcode = 'invalid_parameter_value';
  end if;
  -- Payloads are only hashed while something is quarantined.
  if exists (select from {{schema}}.quarantine q where q.release_id is null) then
    -- Locked, so that a release that begins meanwhile finds what is parked.
    select q.fingerprint into blocked
      from {{schema}}.quarantine q
     where q.fingerprint = {{schema}}.fingerprint(enqueue.kind, enqueue.payload) and q.release_id is null
       for share;
    if blocked is not null and on_quarantine = 'refuse' then
      raise exception 'cannot accept this % job: fingerprint % is quarantined because its jobs killed workers', kind, blocked
        using errcode = 'object_not_in_prerequisite_state', detail = blocked,
              hint = format('spillway quarantine release %s lets it run.', blocked);
    end if;
  end if;
  if unique_key is not null then
    insert into {{schema}}.unique_keys (key, job_id) values (unique_key, new_id) on conflict (key) do nothing;
    if not found then
      select job_id into holder from {{schema}}.unique_keys where key = unique_key;
      raise exception 'cannot take unique key %: job % holds it', unique_key, holder
        using errcode = 'unique_violation', detail = holder::text;
    end if;
  end if;
  if blocked is not null then
    insert into {{schema}}.held_entries
           (id, state, held_at, held_reason, fingerprint, queue, kind, payload, schema_version, priority, max_attempts,
            run_at, deadline, timeout_ms, unique_key, tags, metadata)
    values (new_id, 'quarantined', now(), 'parked', blocked, queue, kind, payload, version, priority, max_attempts, at,
            deadline, timeout_ms, unique_key, tags, metadata);
    insert into {{schema}}.event_outbox (type, job_id, queue, kind, generation, reason, message)
    values ('quarantined', new_id, queue, kind, 0, 'parked', blocked);
    insert into {{schema}}.counters (queue, kind, reason, what, n) values (queue, kind, 'parked', 'quarantined', 1);
  elsif at > now() then
    insert into {{schema}}.deferred_jobs
           (id, state, due_at, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
            timeout_ms, unique_key, tags, metadata)
    values (new_id, 'scheduled', at, queue, kind, payload, version, priority, max_attempts, at, deadline,
            timeout_ms, unique_key, tags, metadata);
    perform pg_notify('{{channel}}', 'd|' || floor(extract(epoch from at) * 1000)::bigint);
  else
    insert into {{schema}}.ready_entries
           (id, position, slot, queue, kind, payload, schema_version, priority, max_attempts, run_at, deadline,
            timeout_ms, unique_key, tags, metadata)
    values (new_id, new_id, (select head from {{schema}}.ring_state where ring = 'ready'), queue, kind, payload,
            version, priority, max_attempts, at, deadline, timeout_ms, unique_key, tags, metadata);
    perform pg_notify('{{channel}}', 'r|' || priority || '|' || new_id || '|' || queue);
  end if;
  return new_id;
end $$;
