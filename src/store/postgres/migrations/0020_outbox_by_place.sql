-- The outbox is never read whole: a plan made while it is empty, when that is the cheapest, was kept while a long reader
-- filled it with dead rows. Replaces a function; locks nothing.

-- Moves at most `batch` committed events from the outbox to the end of the log, and tells of them. Positions have no
-- gaps, and one that is visible has all lower ones before it: the head is held until the commit. An event that commits
-- late gets a late position, a second later.
create or replace function {{schema}}.sequence_events(batch integer) returns bigint
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
  with spots as materialized (
    select ctid as spot from {{schema}}.event_outbox where id > low order by id limit batch for update skip locked
  ),
  -- Each looked up by its place; a limit it does not know the planner takes for few, also while the outbox is empty.
  taken as (
    delete from {{schema}}.event_outbox o
     using (select spot from spots limit (select count(*) from spots)) as s
     where o.ctid = s.spot
    returning o.id, at, type, job_id, queue, kind, generation, reason, cause, message
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
