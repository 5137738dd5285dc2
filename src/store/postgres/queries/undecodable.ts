import type { JobState } from '../../../job/states.js'
import { columns, moved } from '../rows.js'
import { fragment, Identifier, join, type Statement, sql } from '../sql.js'
import { Conditions } from './conditions.js'
import { withEntry } from './history.js'
import { isoTime } from './iso-time.js'
import type { ActParams } from './operate.js'

export interface UndecodableListing {
  readonly queue?: string | undefined
  readonly kind?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly beforeId: string
  readonly limit: number
}

/** An undecodable job and its stored payload. */
export type HeldRow = [id: string, kind: string, version: string, payload: string]

export type ReleaseParams = [...ActParams, ids: string, fingerprints: (string | null)[], forced: boolean]

export function undecodableQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const held = table('held_entries')
  const position = `nextval('${table('job_ids').quoted.replaceAll("'", "''")}')`
  const head = `(select head from ${table('ring_state').quoted} where ring = 'ready')`
  const released = withEntry(
    schema,
    'h',
    `json_build_object('type', 'released', 'at', ${isoTime('now()').quoted},
      'started_at', null, 'generation', h.generation, 'attempt', h.attempt, 'lease_id', h.lease_id::text, 'worker', null,
      'by', $1::text, 'why', $2::text, 'release_id', null, 'forced', $7::boolean)::text`,
  )

  return {
    /** Undecodable jobs, newest id first, as much of each as a check needs. Index: primary key, held_queue with a queue. */
    payloads({ queue, kind, ids, beforeId, limit }: UndecodableListing): [Statement<unknown[], HeldRow>, unknown[]] {
      const where = new Conditions([beforeId, limit])
      const conditions = [
        ...(queue === undefined ? [] : [where.compare('h.queue =', queue)]),
        ...(kind === undefined ? [] : [where.compare('h.kind =', kind)]),
        ...(ids === undefined ? [] : [fragment`h.id = any (${where.value(`{${ids.join(',')}}`, 'bigint[]')})`]),
      ]
      const text = sql<unknown[], HeldRow>`
        select h.id, h.kind, h.schema_version, h.payload
          from ${held} h
         where ${join([fragment`h.state = 'undecodable'`, fragment`h.id < $1::bigint`, ...conditions], ' and ')}
         order by h.id desc
         limit $2::bigint`
      return [text, where.values]
    },

    /**
     * undecodable → available, at the end of its priority, uncharged; only with the payload that was checked, where a
     * fingerprint says which.
     *
     * Index: primary key. Locks the rows in the order given. An id that does not come back was not undecodable, or its
     * payload is another by now. One audit row and, for each job, one event.
     */
    release: sql<ReleaseParams, [id: string, told: string]>`
      with given as (
        select * from unnest($5::bigint[], $6::text[]) as g(id, fingerprint)
      ),
      gone as (
        delete from ${held} h
         using given g
         where h.id = g.id and h.state = 'undecodable'
           and (g.fingerprint is null or g.fingerprint = md5(h.kind || E'\n' || h.payload::text))
        returning ${moved('h', { handbacks: '0::smallint as handbacks', ...released })}
      ),
      back as (
        insert into ${table('ready_entries')} (${columns('position', 'slot')})
        select ${moved('g', {}, position, head)} from (select * from gone order by id) as g
        returning id, queue, priority, position
      ),
      events as (
        insert into ${table('event_outbox')} (type, job_id, queue, kind, generation, reason)
        select 'released', id, queue, kind, generation, left($2::text, 500) from gone
      ),
      audited as (
        insert into ${table('audit_log')} (actor, action, target, reason, result, request_id)
        select $1::text, 'release', json_build_object('ids', json_agg(id::text order by id)), $2::text,
               json_build_object('from', 'undecodable', 'state', 'available', 'forced', $7::boolean, 'released', count(*)),
               $3::text
          from gone
        having count(*) > 0
      ),
      told as materialized (
        select pg_notify($4::text, 'r|' || priority || '|' || min(position) || '|' || queue)
          from back
         group by queue, priority
      )
      select id, (select count(*) from told) from back`,

    /** Where jobs are that were not released. Index: primary key. */
    stillHeld: sql<[ids: string], [id: string, state: JobState]>`
      select id, state from ${held} where id = any ($1::bigint[])`,
  }
}
