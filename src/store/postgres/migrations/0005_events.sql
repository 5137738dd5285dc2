-- The event log and its positions, webhooks and their deliveries; what a worker writes at a death in its transaction.
-- Adds tables and a column of workers; locks nothing else that exists.

-- Whoever gives positions holds this row, so that they become visible in their order.
create table {{schema}}.event_head (
  one boolean primary key default true check (one),
  last_position bigint not null default 0,
  -- Up to which id the outbox was emptied. While somebody reads for hours, what was deleted stays in the index, so that
  -- the outbox is looked at above it, and from its beginning, for what committed late, only now and then.
  outbox_floor bigint not null default 0,
  outbox_look_at timestamptz not null default '-infinity',
  retention_ms bigint not null default 604800000 check (retention_ms >= 60000)
);
insert into {{schema}}.event_head default values;

create table {{schema}}.event_log (
  position bigint primary key,
  -- Of the transition: the same, however often the event is told of.
  id bigint not null,
  at timestamptz not null,
  logged_at timestamptz not null default now(),
  type text not null,
  job_id bigint not null,
  queue text not null,
  kind text not null,
  generation integer not null,
  reason text,
  cause text,
  message text
);
create index event_log_job on {{schema}}.event_log (job_id);

-- Moves at most `batch` committed events from the outbox to the end of the log, and tells of them. Positions have no
-- gaps, and one that is visible has all lower ones before it: the head is held until the commit. An event that commits
-- late gets a late position, a second later.
create function {{schema}}.sequence_events(batch integer) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  began timestamptz := clock_timestamp();
  look_at timestamptz;
  low bigint;
  head bigint;
  top bigint;
  moved bigint;
begin
  -- Before the lock, which is a write: idle, nothing is written.
  select case when began < outbox_look_at then outbox_floor else 0 end into low from {{schema}}.event_head;
  -- Along the index: a scan of the table would walk over what is deleted, too.
  perform id from {{schema}}.event_outbox where id > low order by id limit 1;
  if not found then
    if low = 0 and clock_timestamp() - began > interval '5 milliseconds' then
      update {{schema}}.event_head set outbox_look_at = clock_timestamp() + 20 * (clock_timestamp() - began);
    end if;
    return 0;
  end if;
  select last_position, outbox_look_at, case when began < outbox_look_at then outbox_floor else 0 end
    into head, look_at, low
    from {{schema}}.event_head for update;
  began := clock_timestamp();
  -- A statement of its own: it sees what the holder before has moved.
  with taken as (
    delete from {{schema}}.event_outbox
     where id = any (array(select id from {{schema}}.event_outbox where id > low order by id limit batch for update skip locked))
    returning id, at, type, job_id, queue, kind, generation, reason, cause, message
  ),
  placed as (
    insert into {{schema}}.event_log
           (position, id, at, type, job_id, queue, kind, generation, reason, cause, message)
    select head + row_number() over (order by id), id, at, type, job_id, queue, kind, generation, reason, cause, message
      from taken
    returning id
  )
  select count(*), max(id) into moved, top from placed;
  if moved > 0 then
    update {{schema}}.event_head
       set last_position = head + moved,
           outbox_floor = greatest(outbox_floor, top),
           outbox_look_at = case when low > 0 then look_at
                                 else clock_timestamp() + greatest(interval '1 second', 20 * (clock_timestamp() - began)) end;
    perform pg_notify('{{channel}}', 'v|' || head + moved);
  end if;
  return moved;
end $$;

-- Kinds whose deaths the worker writes together with its own code: sweeps leave them to it. Null: none.
alter table {{schema}}.workers add column death_tx_kinds text[];

create table {{schema}}.webhooks (
  id bigint generated always as identity primary key,
  url text not null,
  description text,
  -- A list of {secret, until}, newest first; until null: for good.
  secrets jsonb not null check (jsonb_array_length(secrets) > 0),
  -- Null: all of them.
  types text[],
  queues text[],
  kinds text[],
  reasons text[],
  -- Null: one delivery an event.
  digest_ms bigint check (digest_ms > 0),
  digest_events integer not null default 10 check (digest_events between 0 and 100),
  digest_at timestamptz not null default now(),
  state text not null default 'active' check (state in ('active', 'paused')),
  state_reason text,
  -- Up to where deliveries were made.
  cursor_position bigint not null,
  -- Tries that failed since the last one that did not.
  failures integer not null default 0,
  -- After a failure nothing is sent before this time, then one delivery to see whether it is over.
  held_until timestamptz not null default '-infinity',
  last_error text,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint paused_webhooks_say_why check (state = 'active' or state_reason is not null)
);

-- No content: it is put together from the log when it is sent.
create table {{schema}}.deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references {{schema}}.webhooks (id) on delete cascade,
  -- The same at every try.
  message_id text not null,
  type text not null check (type in ('event', 'digest', 'test')),
  first_position bigint,
  last_position bigint,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint ended_deliveries_have_an_end check ((state = 'pending') = (ended_at is null)),
  constraint tests_are_about_nothing check ((type = 'test') = (first_position is null))
);
create index deliveries_due on {{schema}}.deliveries (webhook_id, next_at, id) where state = 'pending';
create index deliveries_recent on {{schema}}.deliveries (webhook_id, id);
create index deliveries_age on {{schema}}.deliveries (ended_at) where ended_at is not null;
