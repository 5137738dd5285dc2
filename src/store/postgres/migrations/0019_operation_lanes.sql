-- Halves of one large operation, so that two connections can be at it. Adds a table; locks nothing that exists for longer
-- than its foreign key takes to be noted.

create table {{schema}}.operation_lanes (
  operation_id bigint not null references {{schema}}.operations (id) on delete cascade,
  -- Of the rows whose id leaves this remainder.
  lane smallint not null check (lane >= 0),
  -- The last row looked at.
  cursor_at timestamptz not null,
  cursor_id bigint not null,
  ended boolean not null default false,
  primary key (operation_id, lane)
);
