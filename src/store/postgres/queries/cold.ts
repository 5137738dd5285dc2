import { DEFAULT_POLICY } from '../../../job/policy.js'
import { columns, moved } from '../rows.js'
import { Columns, type Fragment, fragment, Identifier, whole } from '../sql.js'

/** What `cold_archive` has besides the snapshot, and what stands there for a place that does not have it. */
export const COLD_OWN = {
  state: "''",
  finalized_at: 'null::timestamptz',
  started_at: 'null::timestamptz',
  lease_id: 'null::bigint',
  reason: 'null::text',
  cause: 'null::text',
  error_class: 'null::text',
  error_message: 'null::text',
  result: 'null::json',
  progress: 'null::json',
  dlq_at: 'null::timestamptz',
  dlq_reason: 'null::text',
  original_run_lease: 'null::integer',
  from_state: 'null::text',
  held: 'null::json',
  held_at: 'null::timestamptz',
  held_reason: 'null::text',
  fingerprint: 'null::text',
} as const

type ColdColumn = keyof typeof COLD_OWN

const ATTEMPT = ['started_at', 'lease_id', 'progress'] as const
const DEATH = ['cause', 'error_class', 'error_message', 'dlq_at', 'dlq_reason', 'original_run_lease'] as const

/** Where a job was, which columns that place has for the archive, and what it calls its state. */
const SOURCES = {
  terminal: {
    own: ['state', 'finalized_at', 'reason', 'cause', 'error_class', 'error_message', 'result', ...ATTEMPT],
    said: {},
  },
  dlq: { own: [...DEATH, ...ATTEMPT], said: { state: "'archived'" } },
  bin: {
    own: [...DEATH, ...ATTEMPT, 'from_state', 'held'],
    said: { state: "'discarded'", finalized_at: 'g.discarded_at' },
  },
  held: { own: ['state', 'held_at', 'held_reason', 'fingerprint', ...ATTEMPT], said: {} },
} as const satisfies Record<string, { own: readonly ColdColumn[]; said: Readonly<Partial<Record<ColdColumn, string>>> }>

export type ColdSource = keyof typeof SOURCES

/** The columns a deleting statement returns of a row `alias` so that {@link toCold} can keep it whole. */
export function coldColumns(alias: string, source: ColdSource, ...more: string[]): Columns {
  return moved(alias, {}, ...SOURCES[source].own.map((column) => `${alias}.${column}`), ...more)
}

/**
 * gone → cold, for the queues that opt in: the part of a deleting statement whose rows `gone` have what
 * {@link coldColumns} names. What was said about a dead letter and earlier payloads of a job go along.
 */
export function toCold(schema: string, source: ColdSource, why: 'expired' | 'evicted'): Fragment {
  const table = (name: string) => new Identifier(schema, name)
  const { own, said } = SOURCES[source]
  const has: ReadonlySet<string> = new Set(own)
  const values = Object.entries(COLD_OWN).map(
    ([column, absent]) =>
      (said as Partial<Record<string, string>>)[column] ?? (has.has(column) ? `g.${column}` : absent),
  )
  const default_ = DEFAULT_POLICY.retention.archive
  const fallback = default_ === null ? fragment`null::bigint` : fragment`${whole(default_)}::bigint`
  const keep = fragment`${table('effective_retention')}(g.retention, q.retention, 'archive', ${fallback})`
  const triage =
    source === 'dlq'
      ? fragment`(select row_to_json(t) from ${table('dlq_triage')} t where t.job_id = g.id)`
      : fragment`null::json`
  return fragment`cold as (
        insert into ${table('cold_archive')}
               (${columns('why', 'archived_at', 'keep_until', 'triage', 'payload_versions', ...Object.keys(COLD_OWN))})
        select ${moved('g')}, ${new Columns([`'${why}'`])}, now(), now() + ${keep} * interval '1 millisecond', ${triage},
               (select json_agg(json_build_object('version', v.version, 'payload', v.payload, 'edited_at', v.edited_at,
                                                  'edited_by', v.edited_by, 'reason', v.reason) order by v.version)
                  from ${table('payload_versions')} v where v.job_id = g.id),
               ${new Columns(values)}
          from gone g
          join ${table('queues')} q on q.queue = g.queue
         where q.policy ->> 'coldArchive' = 'true'
      )`
}
