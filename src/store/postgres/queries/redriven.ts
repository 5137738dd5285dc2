import type { SnapshotColumn } from '../rows.js'
import { Identifier } from '../sql.js'
import { withEntryBeside } from './history.js'
import { iso } from './operate.js'

/** The largest payload that a retry with another one keeps in the history. */
const KEPT_PAYLOAD_BYTES = 32_768

/** What a retry is told, as SQL: parameters with their types. */
export interface RedriveTerms {
  readonly by: string
  readonly why: string
  /** Null outside an operation. */
  readonly operation: string
  /** `fresh`, `keep` or `extra`. */
  readonly budget: string
  readonly extra: string
  readonly queue: string
  readonly priority: string
  readonly runAt: string
  readonly maxAttempts: string
  readonly deadline: string
  /** Null where there is none and the text may say so; a parameter that is null will do as well. */
  readonly payload: string | null
  readonly force: string
}

/**
 * What a retry makes of a dead row, the same for one job and for a million: the table of budgets of the docs, and the
 * history entry that keeps all that the retry takes off the row, so that it can be undone.
 */
export function redriven(schema: string, terms: RedriveTerms) {
  const table = (name: string) => new Identifier(schema, name).quoted
  const { budget, extra, force } = terms
  const attempt = `(case when ${budget} = 'fresh' then 0 else g.attempt end)`
  const crashAttempt = `(case when ${budget} = 'keep' then g.crash_attempt else 0 end)`
  const runLease = `(case when ${budget} = 'fresh' then 0 else g.run_lease end)`
  const maxAttempts = `coalesce(${terms.maxAttempts}, g.max_attempts)`
  // Written by hand: json_build_object looks up the type of every value anew, which costs more than moving the row. What
  // the entry says itself is not said again under `before`.
  const json = (value: string) => `coalesce(to_json(${value})::text, 'null')`
  const same = `(select '{"type":"retried","at":"' || ${iso('now()')} || '","started_at":null,"worker":null,"by":' || ${json(terms.by)}
      || ',"why":' || ${json(terms.why)} || ',"operation":' || ${json(`(${terms.operation})::text`)})`
  const digits = (value: string) => `coalesce('"' || ${value} || '"', 'null')`
  const set = (name: string, value: string) => `coalesce(',"${name}":' || ${value}, '')`
  // In groups, because each || copies all that stands before it.
  const before = `('{"state":"' || g.from_state || '","crash_attempt":' || g.crash_attempt || ',"charge_base":' || g.charge_base)
      || (',"run_lease":' || g.run_lease || ',"max_attempts":' || g.max_attempts || ',"queue":' || to_json(g.queue))
      || (',"priority":' || g.priority || ',"run_at":' || to_json(g.run_at) || ${set('deadline', 'to_json(g.deadline)')})
      || (${set('cause', 'to_json(g.cause)')} || ${set('error_class', 'to_json(g.error_class)')})
      || (${set('error_message', 'to_json(g.error_message)')} || ${set('started_at', 'to_json(g.started_at)')})
      || (${set('release_id', 'g.release_id')} || ${set('last_operation', 'g.last_operation')} || '}')`
  const entry = `(${same} || (',"generation":' || g.generation || ',"attempt":' || g.attempt || ',"lease_id":' || ${digits('g.lease_id')}))
      || ((',"reason":' || ${json('g.reason')} || ',"dlq_at":' || ${json('g.dlq_at')})
      || (',"original_run_lease":' || g.original_run_lease || ',"progress":' || coalesce(g.progress::text, 'null')))
      || (',"run_lease":' || ${runLease} || ',"before":') || (${before}) || '}'`
  const payloadBefore = `case when octet_length(g.payload::text) <= ${KEPT_PAYLOAD_BYTES} then g.payload::text
      else '{"spillway_omitted":"too large"}' end`
  const entryWithPayload =
    terms.payload === null
      ? entry
      : `case when ${terms.payload} is null then ${entry}
      else left(${entry}, -1) || ',"payload_before":' || ${payloadBefore} || '}' end`

  const changes: Partial<Record<SnapshotColumn, string>> = {
    run_at: `coalesce(${terms.runAt}, now()) as run_at`,
    deadline: `case when ${terms.deadline} is not null then ${terms.deadline}
                    when g.deadline > now() then g.deadline end as deadline`,
    release_id: 'null::bigint as release_id',
    last_operation: `coalesce(${terms.operation}, g.last_operation) as last_operation`,
    max_attempts: `case when ${budget} = 'extra' then greatest(${maxAttempts}, g.attempt + ${extra}) else ${maxAttempts} end as max_attempts`,
    attempt: `${attempt} as attempt`,
    crash_attempt: `${crashAttempt} as crash_attempt`,
    charge_base: `${attempt} + ${crashAttempt} as charge_base`,
    run_lease: `${runLease} as run_lease`,
    generation: 'g.generation + 1 as generation',
    priority: `coalesce(${terms.priority}, g.priority) as priority`,
    handbacks: '0::smallint as handbacks',
    queue: `coalesce(${terms.queue}, g.queue) as queue`,
    ...withEntryBeside(schema, 'g', entryWithPayload),
    payload: terms.payload === null ? 'g.payload' : `coalesce(${terms.payload}, g.payload) as payload`,
  }

  const maxGenerations = (alias: string) =>
    `coalesce((select (q.policy ->> 'maxGenerations')::integer from ${table('queues')} q where q.queue = ${alias}.queue), 10)`

  return {
    /** The snapshot's columns that change, read from a row `g`. */
    changes,
    maxGenerations,
    /** Whether the row was retried too often. */
    capped: (alias: string) => `(not ${force} and ${alias}.generation >= ${maxGenerations(alias)})`,
    /** The deadline that refuses: a new one that has passed, or with `keep` the old one. */
    passed: (alias: string) => `(case when ${terms.deadline} <= now() then ${terms.deadline}
      when ${terms.deadline} is null and ${budget} = 'keep' and ${alias}.deadline <= now() then ${alias}.deadline end)`,
  }
}

/** The columns besides the snapshot that {@link redriven} reads of a row `g`, from `dlq_entries` under `alias`. */
export function deadColumns(alias: string): string[] {
  return [
    `${alias}.dlq_reason as reason`,
    `${alias}.dlq_at`,
    `${alias}.original_run_lease`,
    `${alias}.cause`,
    `${alias}.error_class`,
    `${alias}.error_message`,
    `${alias}.lease_id`,
    `${alias}.started_at`,
    `${alias}.progress`,
    "'archived'::text as from_state",
  ]
}

/** The same from a failed row of `terminal_entries`. */
export function failedColumns(alias: string): string[] {
  return [
    `${alias}.reason`,
    'null::timestamptz as dlq_at',
    `${alias}.run_lease as original_run_lease`,
    `${alias}.cause`,
    `${alias}.error_class`,
    `${alias}.error_message`,
    `${alias}.lease_id`,
    `${alias}.started_at`,
    `${alias}.progress`,
    "'failed'::text as from_state",
  ]
}
