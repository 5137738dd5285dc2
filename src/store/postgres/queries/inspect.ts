import type { JobState } from '../../../job/states.js'
import type { JobDetail, JobRow } from '../job-row.js'
import { Columns, Fragment, fragment, Identifier, join, type Statement, sql, whole } from '../sql.js'
import { Conditions } from './conditions.js'
import { wholeHistory } from './history.js'

/** A table that holds jobs, and where it says what the snapshot does not. */
interface Place {
  readonly table: string
  readonly states: readonly JobState[]
  readonly own: Readonly<Partial<Record<OwnColumn, string>>> & { readonly state: string }
  /** Filters that have an index here, in which ids are not in order. */
  readonly unordered?: readonly ('kind' | 'queue')[]
}

type OwnColumn = keyof typeof ABSENT

/** What a place says of a job that it has no column for. Typed, because the parts of a union must agree. */
const ABSENT = {
  state: "''::text",
  started_at: 'null::timestamptz',
  finalized_at: 'null::timestamptz',
  lease_id: 'null::bigint',
  reason: 'null::text',
  dlq_reason: 'null::text',
  dlq_at: 'null::timestamptz',
  original_run_lease: 'null::integer',
  cause: 'null::text',
  error_class: 'null::text',
  error_message: 'null::text',
  callback: 'null::json',
  result: 'null::json',
  progress: 'null::json',
} as const

const DEAD = {
  dlq_reason: 'j.dlq_reason',
  dlq_at: 'j.dlq_at',
  original_run_lease: 'j.original_run_lease',
  cause: 'j.cause',
  error_class: 'j.error_class',
  error_message: 'j.error_message',
} as const

/** Without the token, of which nothing but a hash is anywhere. */
const WAITED_FOR = `json_build_object('id', j.callback_id::text, 'name', j.callback_name, 'waits_until', date_part('epoch', j.waits_until) * 1000)`

const ATTEMPT = { started_at: 'j.started_at', lease_id: 'j.lease_id', progress: 'j.progress' } as const

/** Every place a job can be in. A job is in one of them. */
const PLACES: readonly Place[] = [
  { table: 'ready_entries', states: ['available'], own: { state: "'available'::text" }, unordered: ['queue'] },
  {
    table: 'leases',
    states: ['running'],
    own: { state: "'running'::text", started_at: 'j.claimed_at', lease_id: 'j.lease_id' },
  },
  // `available` here is set aside: no worker served its kind when it was met.
  {
    table: 'deferred_jobs',
    states: ['scheduled', 'retryable', 'available'],
    own: { state: 'j.state', started_at: 'j.started_at' },
  },
  { table: 'waiting_jobs', states: ['waiting'], own: { state: 'j.state', ...ATTEMPT, callback: WAITED_FOR } },
  {
    table: 'terminal_entries',
    states: ['completed', 'failed', 'cancelled'],
    own: { state: 'j.state', ...ATTEMPT, finalized_at: 'j.finalized_at', reason: 'j.reason', result: 'j.result' },
  },
  {
    table: 'dlq_entries',
    states: ['archived'],
    own: { state: "'archived'::text", ...ATTEMPT, ...DEAD, finalized_at: 'j.dlq_at' },
    unordered: ['kind', 'queue'],
  },
  {
    table: 'dlq_bin',
    states: ['discarded'],
    own: {
      state: "'discarded'::text",
      ...ATTEMPT,
      ...DEAD,
      dlq_reason: "case when j.from_state = 'archived' then j.dlq_reason end",
      finalized_at: 'j.discarded_at',
    },
  },
  {
    table: 'held_entries',
    states: ['quarantined', 'undecodable'],
    own: { state: 'j.state', ...ATTEMPT, reason: 'j.held_reason' },
  },
]

export interface JobListing {
  readonly state?: JobState | undefined
  readonly queue?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly beforeId: string
  readonly limit: number
}

export function inspectQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const everywhere = (columns: (place: Place) => Fragment) =>
    join(
      PLACES.map((place) => fragment`select ${columns(place)} from ${table(place.table)} j where j.id = $1`),
      ' union all ',
    )

  return {
    /**
     * The job wherever it is. One statement, so one READ COMMITTED snapshot: a move that commits meanwhile is seen whole
     * or not at all, and a job is never missed between two places. No row: it is nowhere.
     *
     * Index: the one on id of every table, 60 probes with a week of partitions. The payload is read only with $2.
     */
    job: sql<[id: string, payload: boolean], [...JobRow, ...JobDetail]>`
      select ${jobColumns('job')},
             case when $2::boolean then job.payload end, array_to_json(${new Fragment(wholeHistory('job'))}), job.result,
             coalesce(job.progress, (select s.progress from ${table('attempt_state')} s
                                      where s.job_id = job.id and s.lease_id = job.lease_id)),
             job.origin_id
        from (${everywhere((place) => fragment`${detailOf(place)}`)}) as job`,

    /** Where a job is, and in which generation. No row: nowhere. Index: as above. */
    locate: sql<[id: string], [state: JobState, generation: string]>`
      ${everywhere((place) => fragment`${new Columns([place.own.state])}, j.generation`)}`,

    /**
     * Jobs by id, newest first: the newest of every place that can hold such jobs, merged.
     *
     * Index: *_id, deferred_queue, deferred_kind, terminal_queue, held_queue; at most $2 rows of each place are sorted.
     * Where ids are not in order in a filter's index, a filter that few rows pass is read whole and sorted, and one that
     * many pass is looked for along the ids: the rows are counted first, up to {@link FEW}, because the planner, who has
     * to choose for any value, would walk a million rows for a queue that has none.
     */
    list(listing: JobListing): [Statement<unknown[], JobRow>, unknown[]] {
      const { state, queue, queues, kind, beforeId, limit } = listing
      const where = new Conditions([beforeId, limit])
      const values = {
        ...(queue === undefined ? {} : { queue: where.value(queue) }),
        ...(kind === undefined ? {} : { kind: where.value(kind) }),
      }
      const equal = Object.entries(values).map(([column, value]) => fragment`j.${new Fragment(column)} = ${value}`)
      if (queues !== undefined) equal.push(fragment`j.queue = any (${where.value(queues, 'text[]')})`)
      const stateMatches = state === undefined ? undefined : where.compare('j.state =', state)
      const places = PLACES.filter((place) => state === undefined || place.states.includes(state))
      const parts = places.flatMap((place) => {
        const own = stateMatches && place.states.length > 1 ? [stateMatches] : []
        const conditions = [fragment`j.id < $1::bigint`, ...equal, ...own]
        const lead = place.unordered?.find((column) => values[column] !== undefined)
        const value = lead && values[lead]
        return lead && value
          ? byCount(place, conditions, lead, value)
          : [newest(place, fragment`${table(place.table)}`, conditions)]
      })
      // A parameter that no place needs must still have a type.
      const unused =
        stateMatches && places.every((place) => place.states.length === 1)
          ? fragment` where $${where.last}::text is not null`
          : fragment``
      const text = sql<unknown[], JobRow>`
        select ${jobColumns('job')} from (${join(parts, ' union all ')}) as job${unused}
         order by job.id desc
         limit $2::bigint`
      return [text, where.values]
    },

    /** Jobs per state. Dead letters by their causes; the others are counted row by row. */
    counts: sql<[], [state: JobState, n: string]>`
      select state, sum(n)
        from (select 'available' as state, count(*) as n from ${table('ready_entries')}
              union all select 'running', count(*) from ${table('leases')}
              union all select state, count(*) from ${table('deferred_jobs')} group by state
              union all select 'waiting', count(*) from ${table('waiting_jobs')}
              union all select state, count(*) from ${table('terminal_entries')} group by state
              union all select 'archived', sum(count) from ${table('dlq_causes')}
              union all select 'archived', sum(n) from ${table('cause_deltas')}
              union all select 'discarded', count(*) from ${table('dlq_bin')}
              union all select state, count(*) from ${table('held_entries')} group by state) as counted(state, n)
       where n is not null
       group by state`,
  }

  /** One of two parts that excludes the other before it reads a row. */
  function byCount(place: Place, conditions: Fragment[], column: string, value: Fragment): Fragment[] {
    const lead = new Fragment(`i.${column}`)
    // As a range, which the planner takes for narrow whatever it knows of the values.
    const inIndex = fragment`${table(place.table)} i where ${lead} >= ${value} and ${lead} <= ${value}`
    const count = fragment`(select count(*) from (select 1 from ${inIndex} limit ${whole(FEW + 1)}) as counted)`
    const readWhole = fragment`(select i.* from ${inIndex} offset 0)`
    return [
      newest(place, readWhole, [...conditions, fragment`${count} <= ${whole(FEW)}`]),
      newest(place, fragment`${table(place.table)}`, [...conditions, fragment`${count} > ${whole(FEW)}`]),
    ]
  }

  function newest(place: Place, rows: Fragment, conditions: readonly Fragment[]): Fragment {
    return fragment`
          (select ${summaryOf(place)}
             from ${rows} j
            where ${join(conditions, ' and ')}
            order by j.id desc
            limit $2::bigint)`
  }
}

/** So many rows are sorted in some milliseconds. */
const FEW = 5_000

/** The select list of a list, from rows whose columns are named as in the tables: the order of `JobRow`. */
export function jobColumns(alias: string): Columns {
  const ms = (column: string) => `date_part('epoch', ${alias}.${column}) * 1000`
  const plain = (...names: string[]) => names.map((name) => `${alias}.${name}`)
  return new Columns([
    ...plain('id', 'state', 'queue', 'kind', 'schema_version', 'priority', 'attempt', 'crash_attempt', 'max_attempts'),
    ...plain('run_lease', 'generation', 'handbacks'),
    ...['created_at', 'run_at', 'deadline'].map(ms),
    ...plain('timeout_ms', 'unique_key'),
    `array_to_json(${alias}.tags)`,
    ...plain('metadata'),
    ...['started_at', 'finalized_at'].map(ms),
    ...plain('lease_id', 'reason', 'dlq_reason'),
    ms('dlq_at'),
    ...plain('original_run_lease', 'cause', 'error_class', 'error_message', 'callback'),
  ])
}

const SUMMARY = [
  ...['id', 'queue', 'kind', 'schema_version', 'priority', 'attempt', 'crash_attempt', 'max_attempts', 'run_lease'],
  ...['generation', 'handbacks', 'created_at', 'run_at', 'deadline', 'timeout_ms', 'unique_key', 'tags', 'metadata'],
]

/** The columns of one place that {@link jobColumns} reads. */
function summaryOf({ own }: Place): Columns {
  const said = (Object.keys(ABSENT) as OwnColumn[])
    .filter((column) => column !== 'result' && column !== 'progress')
    .map((column) => `${own[column] ?? ABSENT[column]} as ${column}`)
  return new Columns([...SUMMARY.map((column) => `j.${column}`), ...said])
}

function detailOf(place: Place): Columns {
  const { result = ABSENT.result, progress = ABSENT.progress } = place.own
  return new Columns([
    summaryOf(place).quoted,
    'j.payload',
    'j.history',
    'j.last_entry',
    'j.origin_id',
    `${result} as result`,
    `${progress} as progress`,
  ])
}
