import { leading, moved } from '../../rows.js'
import { type Fragment, fragment, Identifier } from '../../sql.js'
import { deleteSpots } from '../spots.js'

/** Texts joined by U+001F, a missing one as U+001E. */
export type Texts = string
/** An array literal of numbers. */
export type Numbers = string

export type SettledRow = [id: string, state: string]

/** What several parts of a settling statement look at. */
const FRONT = ['id', 'lease_id', 'queue', 'unique_key', 'retention', 'kind'] as const

/** By ctid, looked up row by row: a join would read the whole slot, and a slot that a long reader keeps is long. */
export function takenFrom(leases: Identifier): Fragment {
  return fragment`
      spots as materialized (
        select held.ctid as spot
          from given g,
               lateral (select l.ctid from ${leases} l
                         where l.id = g.id and l.lease_id = g.lease_id limit 1) as held
      ),
      taken as (
        ${deleteSpots(leases)}
        returning ${leading(FRONT, 'position', 'lease_id', 'claimed_at')}
      )`
}

/** Over all slots a ctid means nothing: eight rows may have the same. */
export function takenAnywhere(leases: Identifier): Fragment {
  return fragment`
      taken as (
        delete from ${leases} l
         using given g
         where l.id = g.id and l.lease_id = g.lease_id
        returning ${moved('l', {}, 'l.position', 'l.lease_id', 'l.claimed_at')}
      )`
}

/** The unique keys of what is `gone` are free again. */
export function freed(schema: string): Fragment {
  return fragment`
      freed as (
        delete from ${new Identifier(schema, 'unique_keys')} k
         using gone g
         where g.unique_key is not null and k.key = g.unique_key and k.job_id = g.id
      )`
}
