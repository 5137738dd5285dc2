import { Fragment, fragment, Identifier, sql } from '../sql.js'

/** `(queue, pair)` of each `kind@version` that a worker takes from a queue now. */
export function servedBy(schema: string, live: Fragment): Fragment {
  return fragment`
      served as materialized (
        select distinct q.queue, k.pair
          from ${new Identifier(schema, 'workers')} w, unnest(w.queues) as q(queue), unnest(w.kinds) as k(pair)
         where w.state = 'running' and ${live}
      )`
}

/**
 * What workers take now whose deaths they write together with code of their own, as {@link takenAs} has it: whatever
 * sweeps leaves these jobs to them.
 */
export function leftToWorkers(schema: string): Fragment {
  return fragment`array(select q.queue || E'\n' || k.pair
                        from ${new Identifier(schema, 'workers')} w, unnest(w.queues) as q(queue), unnest(w.kinds) as k(pair)
                       where w.state = 'running' and regexp_replace(k.pair, '@[0-9]+$', '') = any (w.death_tx_kinds))`
}

/** The queue, kind and version of a job, as one text. */
export function takenAs(job: string): Fragment {
  return new Fragment(`${job}.queue || E'\\n' || ${job}.kind || '@' || ${job}.schema_version`)
}

/** Every registration counts until it is ended: what one may serve is not taken from it. */
export const ANY_REGISTRATION = new Fragment('true')

export function servedQueries(schema: string) {
  const workers = new Identifier(schema, 'workers')
  const tasks = new Identifier(schema, 'worker_tasks')
  const held = new Identifier(schema, 'held_entries')

  return {
    /**
     * The JSON Schema that the newest worker publishes for a kind, its highest version first. No row: no worker that is
     * registered serves the kind, or none has one.
     */
    schemaOf: sql<[kind: string], [version: string, schema: string, worker: string]>`
      select w.schemas -> $1::text ->> 'version', w.schemas -> $1::text ->> 'schema', w.name
        from ${workers} w
       where w.schemas -> $1::text is not null
       order by (w.schemas -> $1::text ->> 'version')::integer desc, w.registration desc
       limit 1`,

    /**
     * Asks whoever serves the kind and version which of the jobs would decode. Workers hear of it. Questions of those who
     * went away without the answer are thrown away.
     */
    ask: sql<[kind: string, version: number, ids: string, channel: string], [id: string, told: string]>`
      with stale as (
        delete from ${tasks} where created_at < now() - interval '10 minutes'
      )
      insert into ${tasks} (kind, version, ids) values ($1, $2, $3::bigint[])
      returning id, pg_notify($4::text, 'p')`,

    /** Takes a question this registration can answer, also one whose taker did not within 30 s. No row: there is none. */
    take: sql<[registration: string], [id: string, kind: string, version: string, ids: string]>`
      update ${tasks} t
         set taken_by = $1::bigint, taken_at = now()
        from (select o.id
                from ${tasks} o, ${workers} w
               where w.registration = $1::bigint and o.kind || '@' || o.version = any (w.kinds)
                 and o.answer is null and (o.taken_at is null or o.taken_at < now() - interval '30 seconds')
               order by o.id
               limit 1
                 for update of o skip locked) as open
       where t.id = open.id
      returning t.id, t.kind, t.version, t.ids::text`,

    /** Payloads of undecodable jobs by id. Index: primary key. */
    payloads: sql<[ids: string], [id: string, version: string, payload: string]>`
      select id, schema_version, payload from ${held} where id = any ($1::bigint[]) and state = 'undecodable' order by id`,

    /** No row: who asked has gone. */
    answer: sql<[id: string, answer: string], [id: string]>`
      update ${tasks} set answer = $2::json where id = $1::bigint returning id`,

    /** Null: nobody has answered yet. No row: it was thrown away. Index: primary key. */
    answered: sql<[id: string], [answer: string | null]>`
      select answer from ${tasks} where id = $1::bigint`,

    withdraw: sql<[id: string], []>`
      delete from ${tasks} where id = $1::bigint`,
  }
}
