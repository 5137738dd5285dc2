import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { isMoment } from '../job/moment.js'
import { checkSelector } from '../job/selector.js'
import { isJobState, JOB_STATES } from '../job/states.js'
import { isStorable } from '../job/text.js'
import type { CauseFilter, DlqFilter, FlowFilter, GroupFilter, JobFilter, RemovedFilter } from '../store/store.js'
import { isJobId } from './act.js'

/** The filter without what was left open. @throws `invalid_option` for unknown states, unknown keys and empty texts. */
export function checkJobFilter(filter: JobFilter): JobFilter {
  const named = withoutUndefined(filter)
  for (const [key, value] of Object.entries(named)) {
    if (key === 'queues' && Array.isArray(value) && value.length > 0 && value.every(isText)) continue
    if (key !== 'state' && key !== 'queue' && key !== 'kind') {
      throw refused(key, value, 'it is unknown; known are state, queue, kind')
    }
    if (!isText(value)) throw refused(key, value, TEXT)
  }
  if (named.state !== undefined && !isJobState(named.state)) {
    throw refused('state', named.state, `known are ${JOB_STATES.join(', ')}`)
  }
  return named
}

/**
 * The filter of a list of dead letters, without what was left open. Nothing named is everything: a list changes
 * nothing.
 *
 * @throws `invalid_option` for a `beforeId` that is no id; `selector_refused` for everything {@link checkSelector}
 *   refuses, but an empty filter.
 */
export function checkDlqFilter(filter: DlqFilter): DlqFilter {
  const { beforeId, beforeDlqAt, ...selector } = withoutUndefined(filter)
  if (beforeId !== undefined && !isJobId(beforeId)) throw refused('beforeId', beforeId, 'the id of a job is accepted')
  if (beforeDlqAt !== undefined && !isMoment(beforeDlqAt)) {
    throw refused('beforeDlqAt', beforeDlqAt, 'a Date is accepted')
  }
  const { all: _, ...checked } = checkSelector({ ...selector, all: true })
  const reason = checked.reason === undefined ? undefined : (SEED_REASONS[checked.reason] ?? checked.reason)
  return withoutUndefined({ ...checked, reason, beforeId, beforeDlqAt }) as DlqFilter
}

/** @throws `invalid_option` for unknown keys and empty texts. */
export function checkGroupFilter(filter: GroupFilter): GroupFilter {
  const named = withoutUndefined(filter)
  for (const [key, value] of Object.entries(named)) {
    if (key !== 'queue' && key !== 'kind' && key !== 'triage')
      throw refused(key, value, 'it is unknown; known are queue, kind, triage')
    if (!isText(value)) throw refused(key, value, TEXT)
  }
  if (named.triage !== undefined && !TRIAGE.includes(named.triage))
    throw refused('triage', named.triage, `known are ${TRIAGE.join(', ')}`)
  return named
}

const TRIAGE = ['new', 'acknowledged', 'muted', 'resolved', 'regressed', 'unmuted', 'unreviewed'] as const
/** @throws `invalid_option` for unknown keys and empty texts. */
export function checkCauseFilter(filter: CauseFilter): CauseFilter {
  const named = withoutUndefined(filter)
  for (const [key, value] of Object.entries(named)) {
    if (!['queue', 'queues', 'kind', 'cause'].includes(key)) {
      throw refused(key, value, 'it is unknown; known are queue, queues, kind, cause')
    }
    const texts: readonly unknown[] = [value].flat()
    if (texts.length === 0 || !texts.every(isText)) throw refused(key, value, TEXT)
  }
  return named
}

/** Which past is told of. */
export interface SpanOptions {
  readonly queue?: string | undefined
  /** A time, or how long before now, up to 90 days. Default: 24 h. */
  readonly since?: Date | Duration | undefined
}

export interface FlowOptions extends SpanOptions {
  /** Default: `hour`. */
  readonly by?: 'minute' | 'hour' | undefined
}

const LONGEST_SPAN_MS = 90 * 86_400_000

/** @throws as {@link checkSpan} */
export function checkFlowFilter({ by = 'hour', ...span }: FlowOptions, now: Date): FlowFilter {
  if (by !== 'minute' && by !== 'hour') throw refused('by', by, 'minute or hour is accepted')
  return { ...checkSpan(span, now, 'queue, since, by'), by }
}

/** @throws `invalid_option` for unknown keys, empty texts, and more than 90 days. */
export function checkSpan(options: SpanOptions, now: Date, known = 'queue, since'): RemovedFilter {
  const { queue, since = 86_400_000, ...unknown } = options
  const [key] = Object.keys(unknown)
  if (key !== undefined) throw refused(key, '', `it is unknown; known are ${known}`)
  if (queue !== undefined && !isText(queue)) throw refused('queue', queue, TEXT)
  const from = since instanceof Date ? since : new Date(now.getTime() - parseDuration(since, 'since'))
  if (!isMoment(from) || now.getTime() - from.getTime() > LONGEST_SPAN_MS)
    throw refused('since', since, 'a Date of the last 90 days is accepted')
  return { since: from, ...(queue === undefined ? {} : { queue }) }
}

/** Reasons under the names that other documents of the field use. */
export const SEED_REASONS: Readonly<Record<string, string>> = {
  max_attempts: 'attempts_exhausted',
  deadline_expired: 'deadline_exceeded',
}

const TEXT = 'a text that is not empty, and holds no U+0000 or half a surrogate pair, is accepted'

/** What no store can hold is in none of its rows, and would be refused by its driver. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorable(value)
}

function withoutUndefined<T extends object>(filter: T): T {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as T
}

function refused(key: string, value: unknown, accepted: string): SpillwayError {
  return new SpillwayError(
    'invalid_option',
    `cannot list by ${key} ${JSON.stringify(value) ?? String(value)}: ${accepted}`,
  )
}
