import { columns, leading, moved } from '../rows.js'
import { Columns, Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { deleteSpots } from './spots.js'

/** How many slots each ring has. */
export const SLOTS = [0, 1, 2, 3, 4, 5, 6, 7] as const

/** The best row of one slot and priority, above what the worker has already passed. */
export type HeadRow = [queue: string, slot: number, priority: number, position: string]

export type ClaimParams = [
  queue: string,
  priority: number,
  floor: string,
  limit: number,
  kinds: string[],
  leaseId: string,
  /** A version that is served of each of the kinds, 0 where there is none: spares most rows the look at the pairs. */
  common: number,
  /** `kind@version`, each pair that is served. */
  pairs: string[],
]

export type ClaimOthersParams = [
  ...claim: ClaimParams,
  /** Kinds of suspects. */
  kinds: string[],
  suspects: string[],
  /** Quarantined, where a released job runs by itself. */
  quarantined: string[],
]

/** What the claims of a worker take. */
export interface Wanted {
  readonly kinds: string[]
  readonly common: number
  readonly pairs: string[]
  /** Fingerprints that are run alone, where there are some. */
  readonly except: [kinds: string[], suspects: string[], quarantined: string[]] | undefined
  /** Changes when something is taken that was not taken before. */
  readonly key: string
}

export type PassedParams = [
  queue: string,
  priority: number,
  from: string,
  to: string,
  kinds: string[],
  common: number,
  pairs: string[],
]

/** What a claim answers of a job `p`, and of the `ring` of leases. */
export const CLAIMED =
  new Fragment(`p.id, p.kind, p.schema_version, p.payload, p.attempt, p.crash_attempt, p.max_attempts, p.charge_base,
             p.run_lease + 1, p.generation, p.handbacks, p.position, p.unique_key, p.tags, p.metadata, p.timeout_ms,
             date_part('epoch', p.created_at) * 1000, date_part('epoch', nullif(p.run_at, p.created_at)) * 1000,
             date_part('epoch', p.deadline - now()) * 1000, ring.head, ring.quarantine_version, p.release_id`)

export function claimQueries(schema: string) {
  const ready = SLOTS.map((slot) => new Identifier(schema, `ready_${slot}`))

  return {
    /**
     * available → running, at most $4 rows of one slot, priority and queue, in order of position above $3.
     *
     * Index: ready_N_claim. Locks: skips rows another claim is taking. By ctid, on the slot's own table: through the
     * parent a generic plan would lock all eight. A first claim need not wait for the disk: lost in a crash of the
     * server it makes the job available again; a claim of a job that ran before is synchronous, so that run_lease
     * cannot go back. With each job comes the version of the quarantine it was claimed under. No row back: nothing
     * claimable here.
     */
    claim: SLOTS.map((slot) => claimFrom<ClaimParams>(schema, slot, new Fragment(''))),

    /**
     * The same past the fingerprints that are run alone, while there are some: what is quarantined is claimed, for the
     * worker to hold it.
     */
    claimOthers: SLOTS.map((slot) =>
      claimFrom<ClaimOthersParams>(
        schema,
        slot,
        fragment`and not (r.kind = any ($9::text[]) and ${suspected('r', '$10', '$11')})`,
      ),
    ),

    /**
     * The first row above the given floors, per slot: where the next claim goes. Eight index probes for each priority.
     *
     * Index: ready_N_claim.
     */
    heads: sql<[queue: string, priorities: string, ...floors: string[]], HeadRow>`
      select $1::text, slot, priority, position
        from unnest($2::integer[], ${join(
          SLOTS.map((slot) => fragment`$${whole(slot + 3)}::bigint[]`),
          ', ',
        )}) as floor(priority, ${new Columns(SLOTS.map((slot) => `above_${slot}`))}),
             lateral (${join(
               SLOTS.map(
                 (slot) => fragment`
               (select ${whole(slot)} as slot, position
                  from ${ready[slot] as Identifier}
                 where queue = $1 and priority = floor.priority and position > floor.above_${whole(slot)}
                 order by position
                 limit 1)`,
               ),
               ' union all ',
             )}) as head
       order by priority, position`,

    /**
     * The last row of one slot, priority and queue, from a row at $3 on: how far a claim that found nothing for this worker
     * has looked. Without that bound it would walk back over every dead entry that a long reader keeps.
     *
     * Index: ready_N_claim.
     */
    tail: SLOTS.map(
      (slot) => sql<[queue: string, priority: number, from: string], [position: string]>`
      select position
        from ${ready[slot] as Identifier}
       where queue = $1 and priority = $2 and position >= $3
       order by position desc
       limit 1`,
    ),

    /**
     * The first row of one slot, priority and queue, among those that claims have passed over, that they would take. Reads
     * the whole stretch where there is none, locks nothing.
     *
     * Index: ready_N_claim.
     */
    passed: SLOTS.map((slot) => passedIn<PassedParams>(ready[slot] as Identifier, new Fragment(''))),

    /** The same past the fingerprints that are run alone. */
    passedOthers: SLOTS.map((slot) =>
      passedIn<[...PassedParams, kinds: string[], suspects: string[], quarantined: string[]]>(
        ready[slot] as Identifier,
        fragment`and not (r.kind = any ($8::text[]) and ${suspected('r', '$9', '$10')})`,
      ),
    ),

    /**
     * The first row of every priority of every slot for the given queues, from the very beginning: finds rows that
     * committed late, and priorities not seen before. A loose index scan: one probe per priority and slot.
     *
     * Index: ready_N_claim.
     */
    look: lookQuery(ready),
  }
}

function claimFrom<Params extends readonly unknown[]>(
  schema: string,
  slot: (typeof SLOTS)[number],
  except: Fragment,
): Statement<Params, string[]> {
  const table = new Identifier(schema, `ready_${slot}`)
  return sql<Params, string[]>`
      with spots as materialized (
        select ctid as spot
          from ${table} r
         where queue = $1 and priority = $2 and position > $3
           and kind = any ($5::text[])
           and (schema_version = $7 or kind || '@' || schema_version = any ($8::text[]))
           ${except}
         order by position
         limit $4
           for update skip locked
      ),
      picked as materialized (
        ${deleteSpots(table)}
        returning ${leading(['run_lease', 'id', 'position'], 'position')}
      ),
      ring as materialized (
        select r.head, c.quarantine_version
          from ${new Identifier(schema, 'ring_state')} r, ${new Identifier(schema, 'control')} c
         where r.ring = 'leases'
      ),
      leased as (
        insert into ${new Identifier(schema, 'leases')} (${columns('position', 'lease_id', 'slot')})
        select ${moved('p', { run_lease: 'p.run_lease + 1' }, 'p.position', '$6::bigint', 'ring.head')}
          from picked p, ring
      ),
      -- Once, whatever the order of the join: a subselect there would be run for each row.
      durability as materialized (
        select case when max(run_lease) = 0 then set_config('synchronous_commit', 'off', true) end from picked
      )
      select ${CLAIMED}
        from picked p, ring, durability`
}

function passedIn<Params extends readonly unknown[]>(
  table: Identifier,
  except: Fragment,
): Statement<Params, [position: string]> {
  return sql<Params, [position: string]>`
      select position
        from ${table} r
       where queue = $1 and priority = $2 and position between $3 and $4
         and kind = any ($5::text[])
         and (schema_version = $6 or kind || '@' || schema_version = any ($7::text[]))
         ${except}
       order by position
       limit 1`
}

/** Whether a waiting row is to be run alone: it is suspected, or it was released out of a fingerprint that stays held. */
export function suspected(row: string, suspects: string, quarantined: string) {
  const alias = new Fragment(row)
  const hash = fragment`md5(${alias}.kind || E'\n' || ${alias}.payload::text)`
  const [some, also] = [new Fragment(`${suspects}::text[]`), new Fragment(`${quarantined}::text[]`)]
  return fragment`case when ${alias}.release_id is null then ${hash} = any (${some})
                       else ${hash} = any (${some}) or ${hash} = any (${also}) end`
}

function lookQuery(ready: readonly Identifier[]): Statement<[queues: string[]], HeadRow> {
  const perSlot = SLOTS.map(
    (slot) => fragment`
      select slot, priority, position from (
        with recursive head(priority, position) as (
          (select priority, position from ${ready[slot] as Identifier}
            where queue = wanted.queue order by priority, position limit 1)
          union all
          select next.priority, next.position
            from head,
                 lateral (select priority, position from ${ready[slot] as Identifier}
                           where queue = wanted.queue and priority > head.priority
                           order by priority, position limit 1) as next
        )
        select ${whole(slot)} as slot, priority, position from head) as slot_${whole(slot)}`,
  )
  return sql<[queues: string[]], HeadRow>`
      select wanted.queue, head.slot, head.priority, head.position
        from unnest($1::text[]) as wanted(queue),
             lateral (${join(perSlot, ' union all ')}) as head
       order by wanted.queue, head.priority, head.position`
}
