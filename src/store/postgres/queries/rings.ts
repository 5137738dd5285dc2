import { fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { SLOTS } from './claim.js'

export type Ring = 'ready' | 'leases'

export const RINGS: readonly Ring[] = ['ready', 'leases']

/** One slot of a ring, and the ring's own state beside it. */
export type SlotRow = [
  ring: Ring,
  slot: string,
  bytes: string,
  live: string,
  head: string,
  headAgeMs: string,
  positions: string,
  truncatedAgeMs: string,
  rotateRows: string,
  rotateMs: string,
]

export function ringQueries(schema: string) {
  const rings = new Identifier(schema, 'ring_state')
  const ids = new Identifier(schema, 'job_ids')

  return {
    /**
     * Every slot of both rings: its size, and whether a row in it is live. A slot that is not empty is read until its
     * first live row, over the dead ones before it; so who calls this takes a rest of many times as long.
     */
    look: sql<[], SlotRow>`
      select s.ring, s.slot, s.bytes, s.live, r.head, date_part('epoch', now() - r.rotated_at) * 1000,
             (select last_value from ${ids}) - r.rotated_position,
             least(date_part('epoch', now() - r.truncated_at) * 1000, 1e12), r.rotate_rows, r.rotate_ms
        from (${join(
          RINGS.flatMap((ring) => SLOTS.map((slot) => slotLook(schema, ring, slot))),
          ' union all ',
        )}) as s
        join ${rings} r on r.ring = s.ring
       order by s.ring, s.slot`,

    /** New rows go to slot $3 from now on. No row: somebody else has turned the ring. */
    rotate: sql<[ring: Ring, from: number, to: number], [ring: string]>`
      update ${rings}
         set head = $3, rotated_at = now(), rotated_position = (select last_value from ${ids})
       where ring = $1 and head = $2
      returning ring`,

    /**
     * Truncates a slot if no row in it is live, without waiting for anybody: `f` where it is occupied or in use. The
     * lock is held for this one statement.
     */
    reclaim: sql<[ring: Ring, slot: number], [reclaimed: string]>`
      select ${new Identifier(schema, 'reclaim_slot')}($1, $2)`,

    /**
     * Moves what is left in one slot to the head of its ring, if that is at most $1 rows. An update that moves a row to
     * another partition: whoever meets it is told 40001 and repeats, where a delete and an insert would show a settle
     * no row and lose the job's end.
     *
     * Locks: skips rows that are just being claimed or settled. Always answers one row.
     */
    carry: {
      ready: SLOTS.map((slot) => carryFrom(schema, 'ready', slot)),
      leases: SLOTS.map((slot) => carryFrom(schema, 'leases', slot)),
    },
  }
}

function slotLook(schema: string, ring: Ring, slot: number) {
  const table = new Identifier(schema, `${ring}_${slot}`)
  const name = ring === 'ready' ? fragment`'ready'` : fragment`'leases'`
  // Rows leave in the order they came, so what is live is at the end: a few pages are read before all of them. In a
  // subselect, because the size is volatile, and else every page would be read to compare it.
  const tail = fragment`(select format('(%s,0)', greatest(0, pg_relation_size('${table}'::regclass) / 8192 - 8))::tid)`
  return fragment`
      select ${name}::text as ring, ${whole(slot)} as slot, pg_relation_size('${table}'::regclass) as bytes,
             (exists (select from ${table} where ctid >= ${tail}) or exists (select from ${table})) as live`
}

function carryFrom(schema: string, ring: Ring, slot: number): Statement<[most: number], [carried: string]> {
  const parent = new Identifier(schema, ring === 'ready' ? 'ready_entries' : 'leases')
  const own = new Identifier(schema, `${ring}_${slot}`)
  const name = ring === 'ready' ? fragment`'ready'` : fragment`'leases'`
  return sql`
      with few as materialized (
        select count(*) <= $1 as is_few from (select from ${own} limit $1 + 1) as some_rows
      ),
      picked as materialized (
        select id from ${own} where (select is_few from few) limit $1 for update skip locked
      ),
      carried as (
        update ${parent} as e
           set slot = (select head from ${new Identifier(schema, 'ring_state')} where ring = ${name})
          from picked
         where e.slot = ${whole(slot)} and e.id = picked.id
        returning e.id
      )
      select count(*) from carried`
}
