-- Finds discarded and held jobs that have a retention of their own, which may be shorter than their queue's. Locks both
-- tables while the indexes are built over their rows: moments, unless very much lies in the bin.

create index bin_own_retention on {{schema}}.dlq_bin (discarded_at) where retention is not null;
create index held_own_retention on {{schema}}.held_entries (held_at) where retention is not null;
