-- The newest entry of a history, where it is not yet in the array: a retry leaves its own here, so that it need not unpack
-- and write anew what is there already. Adds a column without a default to every plane: locks each for a moment, rewrites
-- none. A worker of the version before moves rows without it: the entry of a retry it claims is lost, nothing else.

alter table {{schema}}.job_snapshot add column last_entry text;
alter table {{schema}}.ready_entries add column last_entry text;
alter table {{schema}}.leases add column last_entry text;
alter table {{schema}}.deferred_jobs add column last_entry text;
alter table {{schema}}.waiting_jobs add column last_entry text;
alter table {{schema}}.terminal_entries add column last_entry text;
alter table {{schema}}.dlq_entries add column last_entry text;
alter table {{schema}}.dlq_bin add column last_entry text;
alter table {{schema}}.held_entries add column last_entry text;
alter table {{schema}}.cold_archive add column last_entry text;

-- Where rows pass through, it is as the rest of the history is: neither compressed nor put aside.
alter table {{schema}}.job_snapshot alter column last_entry set storage external;
alter table {{schema}}.ready_entries alter column last_entry set storage external;
alter table {{schema}}.leases alter column last_entry set storage external;
alter table {{schema}}.deferred_jobs alter column last_entry set storage external;
