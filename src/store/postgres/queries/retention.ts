import { DEFAULT_POLICY } from '../../../job/policy.js'
import { type Fragment, fragment, Identifier, join, whole } from '../sql.js'

const DEFAULTS = DEFAULT_POLICY.retention

/** For how long a finished job is kept, in ms; null for good. Needs its queue's row as `q`. */
export function terminalKeep(schema: string, alias: string): Fragment {
  const row = new Identifier(alias)
  return fragment`${new Identifier(schema, 'effective_retention')}(${row}.retention, q.retention, ${row}.state,
               case ${row}.state when 'failed' then ${msOf(DEFAULTS.failed)} when 'cancelled' then ${msOf(DEFAULTS.cancelled)}
                                 else ${msOf(DEFAULTS.completed)} end)`
}

/** For how long a job of the bin, or one that is held, is kept. Needs its queue's row as `q`. */
export function keepOf(schema: string, alias: string, key: 'bin' | 'held'): Fragment {
  return fragment`${new Identifier(schema, 'effective_retention')}(${new Identifier(alias)}.retention, q.retention, ${LITERAL[key]}, ${msOf(DEFAULTS[key])})`
}

function msOf(ms: number | null): Fragment {
  return ms === null ? fragment`null::bigint` : fragment`${whole(ms)}::bigint`
}

const LITERAL = {
  completed: fragment`'completed'`,
  failed: fragment`'failed'`,
  cancelled: fragment`'cancelled'`,
  dlq: fragment`'dlq'`,
  bin: fragment`'bin'`,
  held: fragment`'held'`,
} as const

/** The shortest retention of any queue: no row younger than that has to be looked at. Null where all keep for good. */
export function shortestOf(queues: Identifier, keys: readonly (keyof typeof LITERAL)[]): Fragment {
  const set = join(
    keys.map((key) => fragment`(retention ->> ${LITERAL[key]})::bigint`),
    ', ',
  )
  const defaults = keys.flatMap((key) => DEFAULTS[key] ?? []).map(whole)
  const ofQueues = fragment`min(least(${set}))`
  return fragment`(select least(${join([...defaults, ofQueues], ', ')}) * interval '1 millisecond' from ${queues})`
}
