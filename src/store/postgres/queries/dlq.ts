import type { JobRow } from '../job-row.js'
import { Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { Conditions } from './conditions.js'
import { jobColumns } from './inspect.js'

/** One position in the list's order; rows after it are older. `at` is exact to the microsecond, or `infinity`. */
export interface DlqKey {
  readonly at: string
  readonly id: string
}

/** What is listed: (dlq_at, id) descending, from below `before` down to `since`. */
export interface DlqListing {
  readonly queue?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly tag?: string | undefined
  readonly reason?: string | undefined
  readonly cause?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly before: DlqKey
  /** A time, or `-infinity`. */
  readonly since: string
  readonly limit: number
}

/** A row of the list with its exact key. */
export type DlqRow = [...JobRow, at: string]
/** `end` is the key of the last row that was looked at; `full` says that there may be more. A row without id: no hit. */
export type DlqHitRow = [...DlqRow, endAt: string | null, endId: string | null, full: 't' | 'f']

/** How many rows one search through messages looks at. */
const SEARCH_ROWS = 5_000
/** Searches that match more causes look at messages instead. */
export const SEARCH_CAUSES = 200

type Asked = readonly [Statement<unknown[], DlqRow>, unknown[]]

export function dlqQueries(schema: string) {
  const entries = new Identifier(schema, 'dlq_entries')
  const tags = new Identifier(schema, 'dlq_tags')
  const causes = new Identifier(schema, 'dlq_causes')
  const deltas = new Identifier(schema, 'cause_deltas')
  const bin = new Identifier(schema, 'dlq_bin')
  const row = fragment`${jobColumns('job')}, ${exactTime('job.dlq_at')}`

  /** Dead letters as rows that `jobColumns` reads. */
  const dead = fragment`
      (select d.*, 'archived'::text as state, d.dlq_at as finalized_at, null::text as reason, null::json as callback from ${entries} d)`

  return {
    /** Any filters: one of them leads through its own index, the others are looked at row by row. */
    list(listing: DlqListing): Asked {
      if (listing.ids !== undefined) return listIds(listing)
      return listing.tag === undefined ? listEntries(listing) : listTagged(listing, listing.tag)
    },

    /**
     * Which causes a text occurs in, at most {@link SEARCH_CAUSES} + 1. There are at most a thousand for each queue and
     * kind, so they are read whole.
     */
    causesWith(
      pattern: string,
      { queue, kind }: DlqListing,
    ): readonly [Statement<unknown[], [cause: string]>, unknown[]] {
      const where = new Conditions([pattern])
      const scope = equalities(where, 'c', { queue, kind })
      const statement = sql<unknown[], [cause: string]>`
        select distinct c.cause
          from ${causes} c
         where ${all([fragment`(c.title ilike $1::text or c.error_class ilike $1::text)`, ...scope])}
         limit ${whole(SEARCH_CAUSES + 1)}`
      return [statement, where.values]
    },

    /** The dead letters of some causes, merged. Index: dlq_by_cause, once for each cause; sorts causes × limit keys. */
    listCauses(listing: DlqListing, matching: readonly string[]): Asked {
      const { before, since, limit } = listing
      const where = new Conditions([before.at, before.id, since, limit, matching])
      const filters = filtersOf(where, 'd', listing)
      const statement = sql<unknown[], DlqRow>`
        select ${row}
          from (select hit.dlq_at, hit.id
                  from unnest($5::text[]) as c(cause),
                       lateral (select d.dlq_at, d.id
                                  from ${entries} d
                                 where ${all([...range('cause', fragment`c.cause`, 'd'), ...filters])}
                                 order by d.cause desc, d.dlq_at desc, d.id desc
                                 limit $4::bigint) as hit
                 order by hit.dlq_at desc, hit.id desc
                 limit $4::bigint) as found,
               lateral (select * from ${dead} d where d.id = found.id limit 1) as job
         order by found.dlq_at desc, found.id desc`
      return [statement, where.values]
    },

    /**
     * Looks for a text in the messages of the next 5,000 rows, and says where it stopped.
     *
     * Index: that of the filters, else dlq_recent.
     */
    search(listing: DlqListing, pattern: string): readonly [Statement<unknown[], DlqHitRow>, unknown[]] {
      const { before, since, limit } = listing
      const where = new Conditions([before.at, before.id, since, limit, pattern])
      const filters = filtersOf(where, 'd', listing)
      const statement = sql<unknown[], DlqHitRow>`
        with looked as materialized (
          select d.id, d.dlq_at,
                 coalesce(d.error_message ilike $5::text, false) or coalesce(d.error_class ilike $5::text, false) as hit
            from ${entries} d
           where ${all([...range(undefined, undefined, 'd'), ...filters])}
           order by d.dlq_at desc, d.id desc
           limit ${whole(SEARCH_ROWS)}
        )
        select ${row}, ${exactTime('ended.dlq_at')}, ended.id, (select count(*) from looked) = ${whole(SEARCH_ROWS)}
          from (select 1) as one
          left join (select dlq_at, id from looked order by dlq_at, id limit 1) as ended on true
          left join (select id from looked where hit order by dlq_at desc, id desc limit $4::bigint) as found on true
          left join lateral (select * from ${dead} d where d.id = found.id limit 1) as job on true
         order by job.dlq_at desc, job.id desc`
      return [statement, where.values]
    },

    /**
     * Where a row stands in the list. One that has gone stands where its time of death says, behind those of the same
     * millisecond with a higher id; $2 is that time, where the caller knows it. Null: nobody knows.
     *
     * Index: primary keys, dlq_recent.
     */
    keyOf: sql<[id: string, dlqAt: number | null], [at: string | null]>`
      select ${exactTime('found.at')}
        from (select coalesce(
                (select dlq_at from ${entries} where id = $1::bigint),
                (select dlq_at from ${bin} where id = $1::bigint and from_state = 'archived'),
                (select max(dlq_at) from ${entries}
                  where dlq_at >= to_timestamp($2::float8 / 1000)
                    and dlq_at < to_timestamp($2::float8 / 1000) + interval '1 millisecond' and id < $1::bigint),
                to_timestamp($2::float8 / 1000)) as at) as found`,

    /**
     * Dead letters by queue, kind and cause, counted from their causes and what was not folded into them yet. A cause has
     * one kind. Reads the causes, at most a thousand for each queue and kind.
     */
    count: sql<[queues: readonly string[] | null, kind: string | null, cause: string | null], [n: string]>`
      select coalesce(sum(n), 0)
        from (select count as n
                from ${causes}
               where ($1::text[] is null or queue = any ($1)) and ($2::text is null or kind = $2)
                 and ($3::text is null or cause = $3)
              union all
              select d.n
                from ${deltas} d
               where ($1::text[] is null or d.queue = any ($1)) and ($3::text is null or d.cause = $3)
                 and ($2::text is null or exists (select from ${causes} c
                                                   where c.queue = d.queue and c.cause = d.cause and c.kind = $2))) as changes`,

    /**
     * Dead letters by queue, counted from their causes: exact, without reading them. Index: dlq_by_queue for the oldest
     * of each.
     */
    depth: sql<[queue: string | null], [queue: string, depth: string, oldestAt: string | null]>`
      select counted.queue, counted.depth,
             date_part('epoch', (select d.dlq_at from ${entries} d
                                  where d.queue >= counted.queue and d.queue <= counted.queue
                                  order by d.queue, d.dlq_at, d.id
                                  limit 1)) * 1000
        from (select queue, sum(n) as depth
                from (select queue, count as n from ${causes}
                      union all
                      select queue, n from ${deltas}) as changes
               where $1::text is null or queue = $1
               group by queue) as counted
       where counted.depth <> 0
       order by counted.queue`,
  }

  function listEntries(listing: DlqListing): Asked {
    const { before, since, limit } = listing
    const where = new Conditions([before.at, before.id, since, limit])
    const lead = leadOf(listing)
    const value = lead && where.value(listing[lead])
    const column = lead && COLUMN[lead]
    const filters = filtersOf(where, 'job', lead ? { ...listing, [lead]: undefined } : listing)
    const order = column ? fragment`job.${new Fragment(column)} desc, ` : fragment``
    const statement = sql<unknown[], DlqRow>`
      select ${row}
        from ${dead} job
       where ${all([...range(column, value, 'job'), ...filters])}
       order by ${order}job.dlq_at desc, job.id desc
       limit $4::bigint`
    return [statement, where.values]
  }

  /**
   * Index: the primary key. All of them are looked up and sorted by their keys alone, and only a page of them is read
   * whole. Looked up first, because the planner would rather walk along dlq_recent and look for ids there.
   */
  function listIds(listing: DlqListing): Asked {
    const { before, since, limit } = listing
    const where = new Conditions([before.at, before.id, since, limit])
    const statement = sql<unknown[], DlqRow>`
      with asked as materialized (select d.dlq_at, d.id from ${entries} d where ${all(filtersOf(where, 'd', listing))})
      select ${row}
        from (select d.dlq_at, d.id
                from asked d
               where ${all(range(undefined, undefined, 'd'))}
               order by d.dlq_at desc, d.id desc
               limit $4::bigint) as found,
             lateral (select * from ${dead} d where d.id = found.id limit 1) as job
       order by found.dlq_at desc, found.id desc`
    return [statement, where.values]
  }

  /** Index: the primary key of dlq_tags (tag, dlq_at, id), then that of dlq_entries for each row. */
  function listTagged(listing: DlqListing, tag: string): Asked {
    const { before, since, limit } = listing
    const where = new Conditions([before.at, before.id, since, limit])
    const value = where.value(tag)
    const filters = filtersOf(where, 'd', { ...listing, tag: undefined })
    const statement = sql<unknown[], DlqRow>`
      select ${row}
        from ${tags} t,
             lateral (select * from ${dead} d
                       where ${all([fragment`d.id = t.id`, ...filters])}
                       limit 1) as job
       where ${all(range('tag', value, 't'))}
       order by t.tag desc, t.dlq_at desc, t.id desc
       limit $4::bigint`
    return [statement, where.values]
  }
}

const COLUMN = { queue: 'queue', kind: 'kind', reason: 'dlq_reason', cause: 'cause' } as const

/**
 * The filter that leads where there is one alone. Of several the planner chooses: it knows which is rarer. One alone it
 * must not choose for, because with old statistics it would walk through every queue's rows to find those of one.
 */
function leadOf(listing: DlqListing): keyof typeof COLUMN | undefined {
  const named = (Object.keys(COLUMN) as (keyof typeof COLUMN)[]).filter((key) => listing[key] !== undefined)
  return named.length === 1 ? named[0] : undefined
}

/**
 * Rows from below ($1, $2) down to $3, of one value of `column` where it leads. Written as a range over the index's
 * columns and ordered by all of them, so that no other index can serve it.
 */
function range(column: string | undefined, value: Fragment | undefined, alias: string): Fragment[] {
  const row = new Fragment(`${alias}.dlq_at, ${alias}.id`)
  const at = new Fragment(`${alias}.dlq_at`)
  if (column === undefined || value === undefined) {
    return [fragment`(${row}) < ($1::timestamptz, $2::bigint)`, fragment`${at} >= $3::timestamptz`]
  }
  const lead = new Fragment(`${alias}.${column}`)
  return [
    fragment`(${lead}, ${row}) < (${value}, $1::timestamptz, $2::bigint)`,
    fragment`(${lead}, ${at}) >= (${value}, $3::timestamptz)`,
  ]
}

function filtersOf(where: Conditions, alias: string, listing: Omit<Partial<DlqListing>, 'limit'>): Fragment[] {
  const { ids, tag, queue, queues, kind, reason, cause } = listing
  return [
    ...(ids === undefined ? [] : [fragment`${new Fragment(alias)}.id = any (${where.value(ids, 'bigint[]')})`]),
    ...(queues === undefined ? [] : [fragment`${new Fragment(alias)}.queue = any (${where.value(queues, 'text[]')})`]),
    ...(tag === undefined ? [] : [fragment`${where.value(tag)} = any (${new Fragment(alias)}.tags)`]),
    ...equalities(where, alias, { queue, kind, dlq_reason: reason, cause }),
  ]
}

function equalities(where: Conditions, alias: string, values: Record<string, string | undefined>): Fragment[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => where.compare(`${alias}.${column} =`, value))
}

function all(conditions: readonly Fragment[]): Fragment {
  return join(conditions, ' and ')
}

/** A time as text that loses nothing: cursors carry it. */
function exactTime(column: string): Fragment {
  return new Fragment(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
}
