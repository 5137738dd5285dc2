import { Fragment, fragment, Identifier, join, sql } from '../sql.js'

/** Where a job may be: one row in exactly one of these tables. */
export const PLACES = [
  'ready_entries',
  'leases',
  'deferred_jobs',
  'waiting_jobs',
  'terminal_entries',
  'dlq_entries',
  'dlq_bin',
  'held_entries',
] as const

/** Places of live and held jobs: those that hold their unique key. */
const HOLDING = ['ready_entries', 'leases', 'deferred_jobs', 'waiting_jobs', 'held_entries'] as const

export type Fault = [rule: string, subject: string, found: string]

export type Account = [id: string, place: string]

export function checkQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const everywhere = join(
    PLACES.map((place) => fragment`select id, ${literal(place)} as place from ${table(place)}`),
    ' union all ',
  )
  const holding = join(
    HOLDING.map((place) => fragment`select id, unique_key from ${table(place)} where unique_key is not null`),
    ' union all ',
  )
  const charged = join(
    PLACES.map(
      (place) =>
        fragment`select id, queue, attempt + crash_attempt - charge_base as starts, max_attempts from ${table(place)}`,
    ),
    ' union all ',
  )

  return {
    /**
     * Everything that is wrong with the rows, at most 100 faults of each rule; no row back: nothing is wrong.
     *
     * One statement, so one READ COMMITTED snapshot over all planes: a move that commits meanwhile is seen whole or not
     * at all. Reads every row there is; locks nothing.
     */
    faults: sql<[crashLimit: number], Fault>`
      with placed as materialized (${everywhere}),
      holding as materialized (${holding}),
      tagged as (
        select distinct tag, dlq_at, id from ${table('dlq_entries')}, unnest(tags) as tag
      ),
      counted as (
        select queue, cause, sum(n) as n
          from (select queue, cause, count as n from ${table('dlq_causes')}
                union all
                select queue, cause, n from ${table('cause_deltas')}) as counts
         group by queue, cause
      ),
      dead as (
        select queue, cause, count(*) as n from ${table('dlq_entries')} group by queue, cause
      )
      (select 'one place' as rule, 'job ' || id as subject,
              'found in ' || string_agg(place, ', ' order by place) as found
         from placed group by id having count(*) > 1 limit 100)
      union all
      (select 'tags of dead letters', 'job ' || coalesce(t.id, d.id) || ', tag ' || coalesce(t.tag, d.tag),
              case when d.id is null then 'no row in dlq_tags' else 'in dlq_tags without a dead letter' end
         from tagged t full join ${table('dlq_tags')} d on d.tag = t.tag and d.dlq_at = t.dlq_at and d.id = t.id
        where t.id is null or d.id is null limit 100)
      union all
      (select 'counts of causes', 'queue ' || coalesce(c.queue, d.queue) || ', cause ' || coalesce(c.cause, d.cause),
              coalesce(c.n, 0) || ' counted, ' || coalesce(d.n, 0) || ' dead letters'
         from counted c full join dead d on d.queue = c.queue and d.cause = c.cause
        where coalesce(c.n, 0) <> coalesce(d.n, 0) limit 100)
      union all
      (select 'causes of dead letters', 'queue ' || d.queue || ', cause ' || d.cause, 'no row in dlq_causes'
         from dead d
        where not exists (select from ${table('dlq_causes')} c where c.queue = d.queue and c.cause = d.cause) limit 100)
      union all
      (select 'unique keys', 'key ' || coalesce(k.key, h.unique_key) || ', job ' || coalesce(k.job_id, h.id),
              case when k.key is null then 'held by a live or held job, not in unique_keys'
                   else 'in unique_keys, held by no live or held job' end
         from ${table('unique_keys')} k full join holding h on h.unique_key = k.key and h.id = k.job_id
        where k.key is null or h.id is null limit 100)
      union all
      (select 'charged starts', 'job ' || id, starts || ' charged, at most ' || max_attempts + crash_limit || ' allowed'
         from (${charged}) as job,
              lateral (select coalesce((select coalesce(policy ->> 'crashLimit', policy ->> 'crash_limit')::int from ${table('queues')} q
                                         where q.queue = job.queue), $1) as crash_limit) as bound
        where starts > max_attempts + crash_limit limit 100)`,

    /** Each of the given ids that is nowhere ('missing'), and each job nobody gave ('unknown'); at most 1,000 of each. */
    accounts: sql<[ids: string], Account>`
      with given as materialized (select distinct unnest(string_to_array($1, ','))::bigint as id),
      placed as materialized (${everywhere})
      (select id, 'missing' as place from given where id not in (select id from placed) order by id limit 1000)
      union all
      (select id, place from placed where id not in (select id from given) order by id limit 1000)`,

    /** How many of the given ids are nowhere, and how many jobs have left every place, by why. */
    gone: sql<[ids: string], [reason: string, n: string]>`
      (select 'missing' as reason, count(*) as n
         from (select distinct unnest(string_to_array($1, ','))::bigint as id) as given
        where id not in (${join(
          PLACES.map((place) => fragment`select id from ${table(place)}`),
          ' union all ',
        )}))
      union all
      -- What came back from the cold archive had been counted when it went there.
      (select reason, sum(case what when 'restored' then -n else n end)
         from ${table('counters')} where what in ('gone', 'expired', 'restored') group by reason order by reason)`,

    /** Jobs by place and state. */
    census: sql<[], [place: string, state: string, n: string]>`
      select place, state, count(*)
        from (${join(
          PLACES.map(
            (place) => fragment`select ${literal(place)} as place, ${stateOf(place)} as state from ${table(place)}`,
          ),
          ' union all ',
        )}) as job
       group by place, state`,
  }
}

function literal(place: (typeof PLACES)[number]): Fragment {
  return new Fragment(`'${place}'::text`)
}

/** The state of a row: where a table has no column for it, the table says it. */
function stateOf(place: (typeof PLACES)[number]): Fragment {
  if (place === 'ready_entries') return fragment`'available'::text`
  if (place === 'leases') return fragment`'running'::text`
  if (place === 'dlq_entries') return fragment`'archived'::text`
  if (place === 'dlq_bin') return fragment`'discarded'::text`
  return fragment`state`
}
