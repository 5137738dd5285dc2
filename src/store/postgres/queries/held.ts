import { Fragment, fragment, Identifier } from '../sql.js'

/**
 * What is told of jobs that become quarantined: an event each, and counts. For the rows of a CTE with id, queue, kind,
 * generation, held_reason and fingerprint; the CTEs it adds begin with the same name.
 */
export function noticesOfHeld(schema: string, rows: string): Fragment {
  const from = new Fragment(rows)
  return fragment`
      ${from}_events as (
        insert into ${new Identifier(schema, 'event_outbox')} (type, job_id, queue, kind, generation, reason, message)
        select 'quarantined', id, queue, kind, generation, held_reason, fingerprint from ${from}
      ),
      ${from}_counted as (
        insert into ${new Identifier(schema, 'counters')} (queue, kind, reason, what, n)
        select queue, kind, held_reason, 'quarantined', count(*) from ${from} group by queue, kind, held_reason
      )`
}
