-- {{schema}}.enqueue(…): the stable way in for other languages, triggers and SQL. Adds functions; locks nothing.

-- Where in a document the first text stands that holds U+E000.
create function {{schema}}.marked_path(document jsonb, path text) returns text
language plpgsql immutable as $$
declare
  part record;
begin
  if position(U&'\E000' in document::text) = 0 then
    return null;
  end if;
  if jsonb_typeof(document) = 'object' then
    for part in select key, value from jsonb_each(document) loop
      if position(U&'\E000' in part.key) > 0 then return path; end if;
      if position(U&'\E000' in part.value::text) > 0 then
        return {{schema}}.marked_path(part.value, path || '.' || part.key);
      end if;
    end loop;
  elsif jsonb_typeof(document) = 'array' then
    for part in select value, ordinality - 1 as n from jsonb_array_elements(document) with ordinality loop
      if position(U&'\E000' in part.value::text) > 0 then
        return {{schema}}.marked_path(part.value, path || '[' || part.n || ']');
      end if;
    end loop;
  end if;
  return path;
end $$;

-- Where in a document there is text that cannot be kept: U+0000, or half a surrogate pair. Null: nowhere.
create function {{schema}}.unstorable_path(document json, path text) returns text
language plpgsql immutable as $$
declare
  -- A backslash that is not itself escaped.
  escape constant text := '(?<!\\)((?:\\\\)*)\\u';
  marked text;
begin
  if document is null or document::text !~ '\\u(0000|[dD][89a-fA-F])' then
    return null;
  end if;
  marked := regexp_replace(document::text, escape || '[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\1_', 'g');
  marked := regexp_replace(marked, escape || '(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1' || U&'\E000', 'g');
  return {{schema}}.marked_path(marked::jsonb, path);
end $$;

-- Stores one job in the caller's transaction: visible when it commits, gone when it rolls back. Workers hear of it with
-- the commit. Returns the job's id. Raises unique_violation with the holder's id where the key is taken, and
-- invalid_parameter_value, naming the path, where something is refused; then nothing is stored.
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
  version integer default 1
) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_id bigint := nextval('{{schema}}.job_ids');
  at timestamptz := coalesce(run_at, now());
  bad text;
  holder bigint;
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
  if octet_length(payload::text) > 1048576 then
    raise exception 'cannot enqueue %: the payload has % bytes, and at most 1048576 are accepted',
      kind, octet_length(payload::text) using errcode = 'invalid_parameter_value';
  end if;
  bad := coalesce({{schema}}.unstorable_path(payload, 'payload'), {{schema}}.unstorable_path(metadata, 'metadata'));
  if bad is not null then
    raise exception 'cannot enqueue %: the text at % holds U+0000 or half a surrogate pair', kind, bad
      using errcode = 'invalid_parameter_value';
  end if;
  if unique_key is not null then
    insert into {{schema}}.unique_keys (key, job_id) values (unique_key, new_id) on conflict (key) do nothing;
    if not found then
      select job_id into holder from {{schema}}.unique_keys where key = unique_key;
      raise exception 'cannot take unique key %: job % holds it', unique_key, holder
        using errcode = 'unique_violation', detail = holder::text;
    end if;
  end if;
  if at > now() then
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
