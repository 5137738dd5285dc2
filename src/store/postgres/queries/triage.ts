import { Columns, Fragment, fragment, Identifier, type Statement, sql, whole } from '../sql.js'
import { MARK_COLUMNS, MARKS, type Mark, marksJson, reviewedAt } from './triage-marks.js'

/** Who and why, then what is said (a note, a link, a time in ms) and whether it is taken back. */
type SaidParams = [actor: string, reason: string | null, requestId: string | null, value: string | null, clear: boolean]

export type MarkRowParams = [id: string, ...SaidParams]
export type MarkCauseParams = [queue: string, cause: string, ...SaidParams]
/** The document that `triageOf` reads. */
export type MarkedRow = [triage: string]

/** So many dead letters of a cause are looked at one by one, of all queues. */
const COUNTED = 10_000

export function triageQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const rows = table('dlq_triage')
  const causes = table('cause_triage')
  const dead = table('dlq_entries')
  const audit = table('audit_log')
  const all = new Columns(MARK_COLUMNS)
  const returned = new Columns(MARK_COLUMNS, 't')

  /** What is said of one dead letter. No row back: no dead letter has that id. Locks its row of the triage. */
  const markRow = (mark: Mark): Statement<MarkRowParams, MarkedRow> => sql`
      with dead as materialized (select id, queue, cause, generation from ${dead} where id = $1::bigint),
      marked as (
        insert into ${rows} as t (job_id, generation, queue, cause, ${all})
        select d.id, d.generation, d.queue, d.cause, ${said(mark, 2)}
          from dead d
        on conflict (job_id) do update
           set generation = excluded.generation, queue = excluded.queue, cause = excluded.cause, updated_at = now(),
               ${kept(mark, (column) =>
                 MARKS.note.some((own) => own === column)
                   ? `t.${column}`
                   : `case when t.generation = excluded.generation then t.${column} end`,
               )}
        returning t.job_id, ${returned}
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $2::text, ${actionOf(mark)}, json_build_object('id', job_id::text), $3::text, ${resultOf(5)}, $4::text from marked
      )
      select ${marksJson('m', 'null::timestamptz')} from marked m`

  /** The same of a cause. No row back: no job has died of it in that queue. */
  const markCause = (mark: Mark): Statement<MarkCauseParams, MarkedRow> => sql`
      with known as materialized (select queue, cause from ${table('dlq_causes')} where queue = $1 and cause = $2),
      marked as (
        insert into ${causes} as t (queue, cause, ${all})
        select k.queue, k.cause, ${said(mark, 3)}
          from known k
        on conflict (queue, cause) do update
           set updated_at = now(), ${kept(mark, (column) => `t.${column}`)}${mark === 'resolve' ? fragment`, regressed_at = null` : fragment``}
        returning t.queue, t.cause, t.regressed_at, ${returned}
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $3::text, ${actionOf(mark)}, json_build_object('queue', queue, 'cause', cause), $4::text, ${resultOf(6)}, $5::text from marked
      )
      select ${marksJson('m', 'm.regressed_at')} from marked m`

  const each = <T>(make: (mark: Mark) => T) =>
    ({ ack: make('ack'), note: make('note'), mute: make('mute'), resolve: make('resolve') }) as const

  return {
    markRow: each(markRow),
    markCause: each(markCause),

    /** What was said of a dead letter; of an earlier death of the job only the note, and that it had been resolved. */
    ofRow: sql<[id: string], MarkedRow>`
      select ${marksJson('m', 'm.regressed_at')}
        from ${dead} d
       cross join lateral (
               select t.note, t.noted_at, t.noted_by,
                      ${new Columns(
                        MARK_COLUMNS.filter((column) => !MARKS.note.some((own) => own === column)).map(
                          (column) => `case when t.generation = d.generation then t.${column} end as ${column}`,
                        ),
                      )},
                      case when t.generation < d.generation and t.resolved_at is not null then d.dlq_at end as regressed_at
                 from ${rows} t
                where t.job_id = d.id) as m
       where d.id = $1::bigint`,

    /**
     * By queue, how many dead letters nobody has looked at: all of causes nobody has, but for those somebody has by
     * themselves; of the others those since, of the next {@link COUNTED} of each. Index: dlq_by_cause.
     */
    unreviewed: sql<[queue: string | null], [queue: string, n: string]>`
      with counted as (
        select queue, cause, sum(n) as n
          from (select queue, cause, count as n from ${table('dlq_causes')}
                union all
                select queue, cause, n from ${table('cause_deltas')}) as c
         where $1::text is null or queue = $1
         group by queue, cause
        having sum(n) > 0
      ),
      by_themselves as (
        select d.queue, d.cause, count(*) as n
          from ${rows} r
          join ${dead} d on d.id = r.job_id and d.generation = r.generation
         where ($1::text is null or d.queue = $1) and ${reviewedAt('r')} is not null
         group by d.queue, d.cause
      ),
      left_over as (
        select c.queue,
               case when ${reviewedAt('t')} is null then c.n - coalesce(b.n, 0)
                    else (select count(*)
                            from (select d.id, d.queue, d.generation
                                    from ${dead} d
                                   where d.cause = c.cause and d.dlq_at > ${reviewedAt('t')}
                                   order by d.cause, d.dlq_at, d.id
                                   limit ${whole(COUNTED)}) as d
                           where d.queue = c.queue
                             and not exists (select from ${rows} r where r.job_id = d.id and r.generation = d.generation
                                                                     and ${reviewedAt('r')} is not null)) end as n
          from counted c
          left join ${causes} t on t.queue = c.queue and t.cause = c.cause
          left join by_themselves b on b.queue = c.queue and b.cause = c.cause
      )
      select queue, sum(n)::bigint from left_over group by queue having sum(n) > 0 order by queue`,
  }
}

/** The mark's columns as they are from now on, the others null, in the order of the columns; $from is the actor. */
function said(mark: Mark, from: number): Columns {
  const [actor, value, clear] = [`$${from}::text`, `$${from + 3}::text`, `$${from + 4}::boolean`]
  const unless = (expression: string) => `case when not ${clear} then ${expression} end`
  const time = `to_timestamp(${value}::float8 / 1000)`
  const now: Readonly<Record<string, string>> = {
    muted_until: unless(time),
    note: unless(value),
    link: unless(value),
  }
  const own: ReadonlySet<string> = new Set(MARKS[mark])
  return new Columns(
    MARK_COLUMNS.map((column) => {
      if (!own.has(column)) return column.endsWith('_at') || column.endsWith('_until') ? 'null::timestamptz' : 'null'
      return now[column] ?? unless(column.endsWith('_by') ? actor : 'now()')
    }),
  )
}

/** An update that takes the mark's columns from what is inserted, and the others from `before`. */
function kept(mark: Mark, before: (column: string) => string): Fragment {
  const own: ReadonlySet<string> = new Set(MARKS[mark])
  return new Fragment(
    MARK_COLUMNS.map((column) => `${column} = ${own.has(column) ? `excluded.${column}` : before(column)}`).join(', '),
  )
}

function actionOf(mark: Mark): Fragment {
  return new Fragment(`'${{ ack: 'acknowledge', note: 'note', mute: 'mute', resolve: 'resolve' }[mark]}'`)
}

/** What the audit log keeps of it: the value as it was given, and whether it was taken back. */
function resultOf(value: number): Fragment {
  return new Fragment(`json_build_object('value', $${value}::text, 'cleared', $${value + 1}::boolean)`)
}
