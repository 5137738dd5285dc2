-- Triage, the cold archive, a cap on dead letters, and limits that are changed while everything runs. Adds tables; the
-- columns it adds have defaults that rewrite nothing, and the index on held jobs locks that small table while it is built.

-- Duties that somebody stopped, and how often they failed.
alter table {{schema}}.duties
  add column paused_at timestamptz,
  add column paused_by text,
  add column paused_reason text,
  add column failures bigint not null default 0;

-- When a slot of a ring is left for the next one.
alter table {{schema}}.ring_state
  add column rotate_rows integer not null default 20000 check (rotate_rows between 100 and 10000000),
  add column rotate_ms integer not null default 10000 check (rotate_ms between 1000 and 86400000);

-- When it was last said that a capped dead-letter queue is nearly full. Not on the queue: policy is the operators' to write.
create table {{schema}}.dlq_warnings (
  queue text primary key,
  at timestamptz not null default now()
);

create index held_age on {{schema}}.held_entries (held_at);

-- Triage ------------------------------------------------------------------------------------

-- What people say about one dead letter. Beside the row, so that a death writes nothing here. It is about the death of
-- that generation: of an earlier one only the note still counts.
create table {{schema}}.dlq_triage (
  job_id bigint primary key,
  generation integer not null,
  queue text not null,
  cause text not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  note text,
  noted_at timestamptz,
  noted_by text,
  muted_until timestamptz,
  muted_at timestamptz,
  muted_by text,
  resolved_at timestamptz,
  resolved_by text,
  link text,
  updated_at timestamptz not null default now()
);
create index triage_cause on {{schema}}.dlq_triage (queue, cause);
create index triage_age on {{schema}}.dlq_triage (updated_at);

-- The same about a cause. It outlives the count of the cause, so that a resolved one that fails again is known as such.
create table {{schema}}.cause_triage (
  queue text not null,
  cause text not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  note text,
  noted_at timestamptz,
  noted_by text,
  muted_until timestamptz,
  muted_at timestamptz,
  muted_by text,
  resolved_at timestamptz,
  resolved_by text,
  link text,
  -- The first death after it was resolved; written by folding.
  regressed_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (queue, cause)
);
create index cause_triage_age on {{schema}}.cause_triage (updated_at);

-- Cold --------------------------------------------------------------------------------------

-- Whole snapshots of jobs that retention has removed, for audits: no statement that claims, lists or counts jobs reads
-- it. One table for all states, so what a state does not have is null.
create table {{schema}}.cold_archive (
  like {{schema}}.job_snapshot including defaults including constraints,
  state text not null check (state in ('completed', 'failed', 'cancelled', 'archived', 'discarded', 'quarantined', 'undecodable')),
  why text not null check (why in ('expired', 'evicted')),
  archived_at timestamptz not null,
  -- null: for good.
  keep_until timestamptz,
  finalized_at timestamptz,
  started_at timestamptz,
  lease_id bigint,
  reason text,
  cause text,
  error_class text,
  error_message text,
  result json,
  progress json,
  dlq_at timestamptz,
  dlq_reason text,
  original_run_lease integer,
  from_state text,
  held json,
  held_at timestamptz,
  held_reason text,
  fingerprint text,
  triage json,
  payload_versions json
) partition by range (archived_at);
create index cold_id on {{schema}}.cold_archive (id);
create index cold_recent on {{schema}}.cold_archive (archived_at, id);
create index cold_queue on {{schema}}.cold_archive (queue, archived_at, id);
create index cold_kind on {{schema}}.cold_archive (kind, archived_at, id);
create index cold_keep on {{schema}}.cold_archive (keep_until);

-- Makes the monthly partitions from one month to another. CREATE … LIKE + ATTACH, as for finished jobs.
create function {{schema}}.ensure_cold_partitions(from_month date, to_month date) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  made integer := 0;
  month date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtext('{{schema}}.cold_partitions'));
  for month in
    select m::date from generate_series(date_trunc('month', from_month::timestamp), to_month::timestamp, interval '1 month') m
  loop
    name := format('cold_%s', to_char(month, 'YYYYMM'));
    if to_regclass(format('{{schema}}.%I', name)) is null then
      execute format('create table {{schema}}.%I (like {{schema}}.cold_archive including defaults including constraints including indexes)', name);
      execute format('alter table {{schema}}.cold_archive attach partition {{schema}}.%I for values from (%L) to (%L)',
                     name, month::timestamp at time zone 'UTC', (month + interval '1 month')::timestamp at time zone 'UTC');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;

-- Drops the partition of a month that is over, if every row in it has outlived its own archive retention, and counts
-- what goes. Else it changes nothing and says how many rows keep it and until when. Whoever reads or writes the archive
-- meanwhile makes it wait for at most 2 s.
create function {{schema}}.prune_cold_month(month date) returns json
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  name text := format('cold_%s', to_char(month, 'YYYYMM'));
  kept bigint;
  last_until timestamptz;
  for_good boolean;
  gone bigint;
begin
  if to_regclass(format('{{schema}}.%I', name)) is null then
    return '{"outcome":"missing"}';
  end if;
  if month + interval '1 month' > now() at time zone 'UTC' then
    return '{"outcome":"open"}';
  end if;
  lock table {{schema}}.cold_archive in access exclusive mode;
  execute format('select count(*), max(keep_until), coalesce(bool_or(keep_until is null), false)
                    from (select keep_until from {{schema}}.%I where keep_until > now()
                          union all select keep_until from {{schema}}.%I where keep_until is null) k', name, name)
     into kept, last_until, for_good;
  if kept > 0 then
    return json_build_object('outcome', 'kept', 'rows', kept,
                             'until', case when not for_good then date_part('epoch', last_until) * 1000 end);
  end if;
  execute format('with counted as (
                    insert into {{schema}}.counters (queue, kind, reason, what, n)
                    select queue, kind, ''archive'', ''pruned'', count(*) from {{schema}}.%I group by queue, kind
                    returning n)
                  select coalesce(sum(n), 0) from counted', name) into gone;
  execute format('drop table {{schema}}.%I', name);
  return json_build_object('outcome', 'pruned', 'rows', gone);
end $$;

select {{schema}}.ensure_cold_partitions((now() at time zone 'UTC')::date, ((now() at time zone 'UTC')::date + interval '3 months')::date);
