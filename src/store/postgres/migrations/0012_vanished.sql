-- What an operation had counted and others moved before it came there: part of `skipped`. Adds a column with a constant
-- default to operations: locks it for a moment.

alter table {{schema}}.operations add column vanished bigint not null default 0;
