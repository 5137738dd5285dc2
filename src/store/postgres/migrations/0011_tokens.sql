-- Tokens of the HTTP API, and places in payloads that are shown to nobody. Adds tables; locks nothing that exists.

create table {{schema}}.api_tokens (
  id bigint generated always as identity primary key,
  name text not null,
  -- SHA-256 of the secret, which is stored nowhere.
  hash bytea not null check (length(hash) = 32),
  rights text[] not null check (cardinality(rights) > 0),
  -- The only queues it reaches; null: all.
  queues text[] check (cardinality(queues) > 0),
  created_at timestamptz not null default now(),
  created_by text not null,
  reason text,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_by text,
  -- To the minute.
  last_used_at timestamptz
);

create table {{schema}}.masked_paths (
  path text primary key,
  created_at timestamptz not null default now(),
  created_by text not null
);
