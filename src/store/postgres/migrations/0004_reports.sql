-- How many deaths a cause had by hour, and indexes for reading the audit log and old versions of payloads. Adds a table;
-- the indexes lock their tables against writing while they are built, some seconds for a million rows.

-- Arrivals by hour, from which lists of causes show a trend. Written by folding; kept for two days.
create table {{schema}}.cause_hours (
  queue text not null,
  cause text not null,
  hour timestamptz not null,
  n bigint not null,
  primary key (queue, cause, hour)
);
create index cause_hours_age on {{schema}}.cause_hours (hour);

create index audit_by_action on {{schema}}.audit_log (action, id);
create index audit_by_actor on {{schema}}.audit_log (actor, id);

-- Versions of payloads go some time after their job.
create index payload_versions_age on {{schema}}.payload_versions (edited_at);
