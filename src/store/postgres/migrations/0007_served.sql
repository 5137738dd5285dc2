-- What workers serve and what nobody does: JSON Schemas of the kinds, kinds that wait for a worker, questions that only the
-- code can answer. Adds tables and a column; the index locks deferred_jobs against writing while it is built, some seconds
-- for a million rows.

-- By kind, the version of its payloads and their JSON Schema, where its library offers one.
alter table {{schema}}.workers add column schemas json;

-- What is set aside, by who could take it.
create index deferred_aside on {{schema}}.deferred_jobs (queue, kind, schema_version, position) where state = 'available';

-- Kinds that have available jobs in a queue which live workers take, and which none of these serves.
create table {{schema}}.unserved_kinds (
  queue text not null,
  kind text not null,
  version integer not null,
  -- How long it has been so. Time in which nobody took the queue does not count.
  waited_ms bigint not null default 0,
  seen_at timestamptz not null default now(),
  -- How often its jobs were set aside, and when this began last.
  set_aside smallint not null default 0,
  aside_at timestamptz,
  primary key (queue, kind, version)
);

-- Which of these payloads would decode now: asked by clients, answered by a worker that serves the kind.
create table {{schema}}.worker_tasks (
  id bigint generated always as identity primary key,
  kind text not null,
  version integer not null,
  ids bigint[] not null,
  created_at timestamptz not null default now(),
  taken_by bigint,
  taken_at timestamptz,
  answer json
);
