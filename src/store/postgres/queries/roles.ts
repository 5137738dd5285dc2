import { Identifier, sql } from '../sql.js'

/**
 * Roles without login: who logs in is a member of one. `migrate` owns the schema; `work` runs jobs and the maintenance;
 * `serve` may do what operators do as well; `read` looks.
 */
export function rolesStatements(schema: string, prefix: string): string {
  const role = (name: string) => new Identifier(`${prefix}_${name}`)
  const [migrate, work, serve, read] = ['migrate', 'work', 'serve', 'read'].map(role) as [
    Identifier,
    Identifier,
    Identifier,
    Identifier,
  ]
  const s = new Identifier(schema)

  return sql`
-- Least-privilege roles for the schema ${s}. Run it as a superuser, or as who owns the schema and may create roles.
-- It may be run again, and should be after an upgrade. Then, for example:
--   create role app login password '…' in role ${work};
--   create role deploy login password '…' in role ${migrate};
--   alter role deploy set role = ${migrate};   -- so that what it makes belongs to ${migrate}
begin;

do $roles$
declare
  name text;
  it record;
begin
  foreach name in array array['${migrate}', '${work}', '${serve}', '${read}'] loop
    if not exists (select from pg_roles where rolname = trim(both '"' from name)) then
      execute format('create role %s nologin', name);
    end if;
  end loop;

  execute format('grant create on database %I to ${migrate}', current_database());
  if not exists (select from pg_namespace where nspname = trim(both '"' from '${s}')) then
    execute 'create schema ${s} authorization ${migrate}';
  end if;
  alter schema ${s} owner to ${migrate};

  -- Everything in the schema belongs to who migrates it; sequences of identity columns follow their table.
  for it in select c.oid::regclass as name from pg_class c
             where c.relnamespace = '${s}'::regnamespace and c.relkind in ('r', 'p', 'S', 'v', 'm')
               and not exists (select from pg_depend d
                                where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'
                                  and d.refclassid = 'pg_class'::regclass and c.relkind = 'S')
  loop
    execute format('alter table %s owner to ${migrate}', it.name);
  end loop;
  for it in select p.oid::regprocedure as name, p.prosecdef, p.prorettype = 'trigger'::regtype as is_trigger from pg_proc p
             where p.pronamespace = '${s}'::regnamespace
  loop
    execute format('alter function %s owner to ${migrate}', it.name);
    execute format('grant execute on function %s to ${work}, ${serve}', it.name);
    -- What runs with the owner's rights changes something: not for who only reads, and not for everybody.
    if it.prosecdef then
      execute format('revoke execute on function %s from public, ${read}', it.name);
    else
      execute format('grant execute on function %s to ${read}', it.name);
    end if;
  end loop;
end $roles$;

grant usage on schema ${s} to ${work}, ${serve}, ${read};
revoke create on schema ${s} from ${work}, ${serve}, ${read};

grant select on all tables in schema ${s} to ${read};
grant select, insert, update, delete on all tables in schema ${s} to ${work}, ${serve};
grant select on all sequences in schema ${s} to ${read};
grant usage, select on all sequences in schema ${s} to ${work}, ${serve};

-- The schema's version is the migrations' to write, policy is the operators', and nobody rewrites what was done.
do $roles$
declare
  it record;
begin
  for it in select * from (values
      ('migrations', 'insert, update, delete, truncate', '${work}, ${serve}'),
      ('audit_log', 'update, truncate', '${work}, ${serve}'),
      ('queues', 'insert, update, delete, truncate', '${work}'),
      ('tokens', 'all', '${work}, ${read}'),
      ('webhooks', 'all', '${read}')) as rule(name, rights, roles)
  loop
    if to_regclass(format('${s}.%I', it.name)) is not null then
      execute format('revoke %s on ${s}.%I from %s', it.rights, it.name, it.roles);
    end if;
  end loop;
end $roles$;

-- What later migrations and the maintenance of partitions make.
alter default privileges for role ${migrate} in schema ${s} grant select on tables to ${read};
alter default privileges for role ${migrate} in schema ${s} grant select, insert, update, delete on tables to ${work}, ${serve};
alter default privileges for role ${migrate} in schema ${s} grant select on sequences to ${read};
alter default privileges for role ${migrate} in schema ${s} grant usage, select on sequences to ${work}, ${serve};

-- So that metrics and the doctor see how old the transactions of others are. Only a superuser may give it.
do $roles$
begin
  grant pg_read_all_stats to ${work}, ${serve}, ${read};
exception when insufficient_privilege then
  raise notice 'pg_read_all_stats was not granted: metrics and the doctor see only their own transactions';
end $roles$;

commit;`.text
}
