-- Browsers that have signed in to the HTTP API. Adds a table; locks nothing that exists for longer than its foreign key
-- takes to be noted.

create table {{schema}}.api_sessions (
  -- SHA-256 of what the cookie holds, which is stored nowhere.
  hash bytea primary key check (length(hash) = 32),
  -- The token it was opened with, which says who it is and ends it. Null: a JWT, of which everything stands here.
  token_id bigint references {{schema}}.api_tokens on delete cascade,
  actor text,
  rights text[],
  queues text[] check (cardinality(queues) > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sessions_say_who_they_are check ((token_id is null) = (actor is not null and rights is not null))
);

-- For opening one, which removes what is over; and for the foreign key.
create index api_sessions_expiring on {{schema}}.api_sessions (expires_at);
create index api_sessions_by_token on {{schema}}.api_sessions (token_id);
