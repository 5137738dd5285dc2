import { columns, moved } from '../rows.js'
import { type Fragment, fragment, Identifier, sql } from '../sql.js'

/** What `held_entries` has besides the snapshot. */
const HELD_OWN = ['state', 'held_at', 'held_reason', 'fingerprint', 'lease_id', 'started_at', 'progress'] as const

/** The same of a row `g` of the bin. Times in `held` are text to the microsecond. */
const FROM_BIN = [
  'g.from_state',
  "(g.held ->> 'held_at')::timestamptz",
  "g.held ->> 'held_reason'",
  "g.held ->> 'fingerprint'",
  'g.lease_id',
  'g.started_at',
  'g.progress',
]

/** What the bin has besides the snapshot, and of a held row `g` what stands there: it never died. */
const BIN = {
  dlq_at: 'g.held_at',
  dlq_reason: "coalesce(nullif(g.held_reason, ''), g.state)",
  original_run_lease: 'g.run_lease',
  cause: "''",
  retain_from: 'g.held_at',
  lease_id: 'g.lease_id',
  started_at: 'g.started_at',
  progress: 'g.progress',
  from_state: 'g.state',
  held: "json_build_object('held_at', g.held_at, 'held_reason', g.held_reason, 'fingerprint', g.fingerprint)",
  discarded_at: 'now()',
}

/** Held jobs on their way into the bin and back. */
export function heldBinQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const held = table('held_entries')
  const bin = table('dlq_bin')
  const keys = table('unique_keys')

  /** The unique keys of what goes, `gone`: held jobs have theirs, others have none. */
  const freed = fragment`
      freed as (
        delete from ${keys} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      )`

  return {
    freed,

    /** Moves the rows that the CTE `held` names by their place (`at`); what moved is the CTE `gone`. */
    discarded: (operation: Fragment): Fragment => fragment`
      gone as (
        delete from ${held} d
         where d.ctid = any (array(select at from held))
        returning ${moved('d', {}, ...HELD_OWN.map((column) => `d.${column}`))}
      ),
      ${freed},
      binned as (
        insert into ${bin} (${columns(...Object.keys(BIN), 'discard_operation')})
        select ${moved('g', {}, ...Object.values(BIN), operation.quoted)} from gone g
      )`,

    /**
     * discarded → quarantined, undecodable again, byte for byte: those of one operation, of ids above $2, $3 at most. One
     * whose unique key a live or held job has meanwhile stays in the bin.
     *
     * Locks the rows in the bin, then the keys in sorted order. Answers how many were looked at, the last id, those that
     * went back, and those whose key is taken. Index: bin_operation.
     */
    restore: sql<
      [operation: string, after: string, limit: number],
      [read: string, last: string | null, ids: string | null, taken: string | null]
    >`
      with found as materialized (
        select b.id, b.unique_key
          from ${bin} b
         where b.discard_operation = $1::bigint and b.from_state <> 'archived' and b.id > $2::bigint
         order by b.id limit $3
           for update skip locked
      ),
      keyed as (
        insert into ${keys} (key, job_id)
        select unique_key, id from found where unique_key is not null order by unique_key, id
        on conflict (key) do nothing
        returning job_id
      ),
      gone as (
        delete from ${bin} b
         using found f
         where b.id = f.id and (f.unique_key is null or f.id in (select k.job_id from keyed k))
        returning ${moved('b', {}, 'b.from_state', 'b.held', 'b.lease_id', 'b.started_at', 'b.progress')}
      ),
      back as (
        insert into ${held} (${columns(...HELD_OWN)})
        select ${moved('g', {}, ...FROM_BIN)} from gone g
      )
      select (select count(*) from found), (select max(id) from found), (select array_agg(id::text) from gone)::text,
             (select array_agg(f.id::text) from found f where f.id not in (select g.id from gone g))::text`,
  }
}
