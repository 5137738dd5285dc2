import type { Queue } from '../../api.js'
import type { Sent } from '../../server.js'
import { durationText } from '../../words.js'

type Policy = Queue['policy']
export type PolicyBody = Sent<'setQueue'>['body']

/** A line of the form: what it is called, what is typed there, and how the API and the command line name it. */
export interface PolicyField {
  readonly key: string
  readonly label: string
  readonly description?: string
  /** `duration`: 30d, or none for good. `length`: the same, without none. */
  readonly type: 'duration' | 'length' | 'number' | 'limit' | 'flag'
  readonly flag: string
  /** Where the API keeps it, also in the paths of its refusals. */
  readonly path: readonly string[]
  readonly now: (policy: Policy) => number | boolean | null
}

const retention = (key: keyof Policy['retention'], label: string): PolicyField => ({
  ...{ key: `${key}Retention`, label, type: 'duration', flag: `${key}-retention`, path: ['retention', key] },
  now: (policy) => policy.retention[key],
})

/** What can be set of a queue's policy, in the order of the form. */
export const POLICY_FIELDS: readonly PolicyField[] = [
  {
    ...{ key: 'dlqEnabled', label: 'Keep dead letters', type: 'flag', flag: 'dlq-enabled', path: ['dlq_enabled'] },
    description: 'Without it, what is given up on just reads failed',
    now: (policy) => policy.dlqEnabled,
  },
  retention('dlq', 'Dead letters are kept'),
  {
    ...{ key: 'keepUnreviewed', label: 'Never expire unreviewed dead letters', type: 'flag' },
    ...{ flag: 'keep-unreviewed', path: ['keep_unreviewed'] },
    now: (policy) => policy.keepUnreviewed,
  },
  {
    ...{ key: 'dlqMaxRows', label: 'Most dead letters', type: 'limit', flag: 'dlq-max-rows', path: ['dlq_max_rows'] },
    description: 'The oldest go first; none for no limit',
    now: (policy) => policy.dlqMaxRows,
  },
  {
    ...{ key: 'maxGenerations', label: 'Retries of one job', type: 'number', flag: 'max-generations' },
    ...{ path: ['max_generations'], description: 'Past it a retry has to be forced' },
    now: (policy) => policy.maxGenerations,
  },
  {
    ...{
      key: 'crashLimit',
      label: 'Crashes that quarantine',
      type: 'number',
      flag: 'crash-limit',
      path: ['crash_limit'],
    },
    description: 'Of workers, by one kind and payload',
    now: (policy) => policy.crashLimit,
  },
  {
    ...{
      key: 'crashWindow',
      label: 'Crashes counted within',
      type: 'length',
      flag: 'crash-window',
      path: ['crash_window_ms'],
    },
    now: (policy) => policy.crashWindowMs,
  },
  {
    ...{ key: 'unservedAfter', label: 'Unserved jobs wait', type: 'length' },
    description: '12h or 30m; then they are given up',
    ...{ flag: 'unserved-after', path: ['no_handler_after_ms'] },
    now: (policy) => policy.noHandlerAfterMs,
  },
  retention('completed', 'Completed jobs are kept'),
  retention('failed', 'Failed jobs are kept'),
  retention('cancelled', 'Cancelled jobs are kept'),
  retention('bin', 'Discarded jobs are kept'),
  retention('held', 'Held jobs are kept'),
  {
    ...{ key: 'coldArchive', label: 'Copy what expires to the cold archive', type: 'flag' },
    ...{ flag: 'cold-archive', path: ['cold_archive'] },
    now: (policy) => policy.coldArchive,
  },
  retention('archive', 'Archived jobs are kept'),
]

export type Typed = Readonly<Record<string, string | boolean>>

/** The policy as it is typed: what the form begins with. */
export function typedOf(policy: Policy): Typed {
  return Object.fromEntries(POLICY_FIELDS.map((field) => [field.key, typed(field, field.now(policy))]))
}

function typed({ type }: PolicyField, value: number | boolean | null): string | boolean {
  if (typeof value === 'boolean') return value
  if (value === null) return 'none'
  return type === 'duration' || type === 'length' ? durationText(value) : String(value)
}

/** The fields that say something else than the policy does. */
export function changedFields(policy: Policy, now: Typed): readonly PolicyField[] {
  const before = typedOf(policy)
  return POLICY_FIELDS.filter(({ key }) => before[key] !== now[key])
}

/** What is sent: nothing but what was changed. What is no number goes as it was typed, so that the server says what is wrong. */
export function bodyOf(fields: readonly PolicyField[], now: Typed): PolicyBody {
  const body: Record<string, unknown> = {}
  for (const { key, path, type } of fields) {
    const [first = '', second] = path
    const value = sentOf(type, now[key])
    if (second === undefined) body[first] = value
    else body[first] = { ...(body[first] as object | undefined), [second]: value }
  }
  return body as PolicyBody
}

function sentOf(type: PolicyField['type'], typedValue: string | boolean | undefined): unknown {
  if (typeof typedValue !== 'string') return typedValue
  const text = typedValue.trim()
  if ((type === 'duration' || type === 'limit') && text === 'none') return null
  return type === 'number' || type === 'limit' ? (/^\d+$/.test(text) ? Number(text) : text) : text
}
