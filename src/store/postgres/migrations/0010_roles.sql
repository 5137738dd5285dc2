-- Totals of what was counted, and functions that only the roles which need them may call. `counters` is locked for a
-- moment: the column is added without rewriting the table, the index is built over its rows, some seconds for millions.

-- Whether a delta has gone into counter_totals. Folded rows are one a minute, and stay for the history.
alter table {{schema}}.counters add column folded boolean not null default false;
create index counters_unfolded on {{schema}}.counters (minute) where not folded;

-- What was ever counted: never goes back, however long the deltas are kept.
create table {{schema}}.counter_totals (
  queue text not null,
  kind text not null,
  reason text not null,
  what text not null,
  n bigint not null,
  primary key (queue, kind, reason, what)
);

-- Drops one partition of finished jobs for a role that does not own it, if every row in it has outlived its retention
-- and none is to be archived; what goes is counted. Waits 100 ms for others at most, and answers false where that is not enough.
create function {{schema}}.drop_terminal_partition(name text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  kept boolean;
begin
  if name !~ '^terminal_[0-3]_\d{8}$' or to_regclass(format('{{schema}}.%I', name)) is null then
    raise exception 'there is no partition % of finished jobs', name using errcode = 'undefined_table';
  end if;
  execute format(
    'select exists (
       select from (select {{schema}}.effective_retention(t.retention, q.retention, t.state,
                             case t.state when ''failed'' then 259200000 else 86400000 end) as ms,
                           t.finalized_at, q.policy ->> ''coldArchive'' = ''true'' as to_archive
                      from {{schema}}.%I t left join {{schema}}.queues q on q.queue = t.queue) as job
        where ms is null or to_archive or finalized_at + ms * interval ''1 millisecond'' > now())', name) into kept;
  if kept then
    return false;
  end if;
  if exists (select from pg_inherits where inhrelid = to_regclass(format('{{schema}}.%I', name))) then
    execute format('alter table {{schema}}.terminal_entries detach partition {{schema}}.%I', name);
  end if;
  execute format('insert into {{schema}}.counters (queue, kind, reason, what, n)
                  select queue, kind, state, ''expired'', count(*) from {{schema}}.%I group by queue, kind, state', name);
  execute format('drop table {{schema}}.%I', name);
  return true;
exception when lock_not_available then
  return false;
end $$;

-- What runs with the owner's rights is for those who were granted it.
do $$
declare
  f record;
begin
  for f in select p.oid::regprocedure as signature from pg_proc p
            where p.prosecdef and p.pronamespace = '{{schema}}'::regnamespace
  loop
    execute format('revoke execute on function %s from public', f.signature);
  end loop;
end $$;
