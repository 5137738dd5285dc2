-- How the duties of whoever leads fare, written with each renewal of the lead, which writes the row anyway. Adds empty
-- columns to a table of two rows: locks it for a moment.

alter table {{schema}}.leaders
  -- Of each duty when it last succeeded, in ms since 1970; what a predecessor knew stays.
  add column succeeded jsonb,
  -- Of each duty whose pass is under way since when.
  add column under_way jsonb;
