import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { flag } from '../../command-text.js'
import { given } from '../../components/search-params.js'
import type { Terms } from '../operations/bulk.js'

/** What stands in the fields of a retry, as it was typed. */
export interface RetryFields {
  readonly budget: 'fresh' | 'keep' | 'extra'
  readonly extra: string
  readonly queue: string
  readonly priority: string
  readonly runAt: string
  readonly maxAttempts: string
  readonly deadline: string
  readonly onConflict: 'fail' | 'skip' | 'replace'
  readonly force: boolean
  readonly rate: string
  readonly canary: string
  readonly maxWaiting: string
  readonly reason: string
}

const UNTOUCHED: RetryFields = {
  ...{ budget: 'fresh', extra: '1', queue: '', priority: '', runAt: '', maxAttempts: '', deadline: '' },
  ...{ onConflict: 'fail', force: false, rate: '', canary: '', maxWaiting: '', reason: '' },
}

/** Typing in a field is not one dry run for each letter. */
const SETTLE_MS = 400

/** The fields of a retry, what they ask for, and whether a dry run of just that can have been seen. */
export function useRetryFields() {
  const [fields, setFields] = useState(UNTOUCHED)
  const set = (change: Partial<RetryFields>) => setFields((now) => ({ ...now, ...change }))
  const problem = problemOf(fields)
  const seen = problem === undefined ? whatTermsOf(fields) : undefined
  const text = JSON.stringify(seen ?? null)
  const [settled] = useDebouncedValue(text, SETTLE_MS)
  return {
    fields,
    set,
    problem,
    /** What the dry run is of: what is done, without how fast and why. */
    shown: JSON.parse(settled) as Terms | null,
    isSettled: settled === text && problem === undefined,
  }
}

/** What is done to each: what a dry run depends on. */
export function whatTermsOf(fields: RetryFields): Terms {
  const overrides = overridesOf(fields)
  return given({
    budget: budgetOf(fields),
    on_conflict: fields.onConflict === 'fail' ? undefined : fields.onConflict,
    force: fields.force || undefined,
    overrides: Object.keys(overrides).length === 0 ? undefined : overrides,
  }) as Terms
}

/** How it is gone about: pace, canaries, and why. */
export function paceTermsOf({ rate, canary, maxWaiting, reason }: RetryFields): Terms {
  return given({
    rate: numberOf(rate),
    canary: numberOf(canary),
    max_waiting: numberOf(maxWaiting),
    reason: reason.trim(),
  }) as Terms
}

/** What it changes about each job, as `POST /dlq/{id}/retry` takes it, too. */
export function overridesOf({ queue, priority, runAt, maxAttempts, deadline }: RetryFields) {
  return given({
    queue: queue.trim(),
    priority: numberOf(priority),
    run_at: momentOf(runAt),
    max_attempts: numberOf(maxAttempts),
    deadline: momentOf(deadline),
  })
}

/** The same as flags; one job's own queue is `--queue`, which elsewhere is a filter. */
export function retryFlagsOf(fields: RetryFields, queueFlag: 'queue' | 'to-queue'): readonly string[] {
  const { queue, priority, runAt, maxAttempts, deadline, onConflict, force, rate, canary, maxWaiting, reason } = fields
  return [
    ...flag('budget', fields.budget === 'extra' ? `extra:${fields.extra}` : fields.budget),
    ...flag(queueFlag, queue.trim()),
    ...flag('priority', priority),
    ...flag('run-at', momentOf(runAt)),
    ...flag('max-attempts', maxAttempts),
    ...flag('deadline', momentOf(deadline)),
    ...flag('on-conflict', onConflict === 'fail' ? undefined : onConflict),
    ...(force ? ['--force'] : []),
    ...flag('rate', rate),
    ...flag('canary', canary),
    ...flag('max-waiting', maxWaiting),
    ...flag('reason', reason.trim()),
  ]
}

function budgetOf({ budget, extra }: RetryFields) {
  return budget === 'extra' ? { extra: numberOf(extra) ?? 1 } : budget
}

/** In words, the first field that cannot be sent. */
function problemOf({
  budget,
  extra,
  priority,
  maxAttempts,
  rate,
  canary,
  maxWaiting,
}: RetryFields): string | undefined {
  if (budget === 'extra' && !isWhole(extra, 1, 32_767)) return 'More attempts is a number from 1 to 32,767.'
  if (priority !== '' && !isWhole(priority, 0, 100)) return 'Priority is a number from 0 to 100; lower runs first.'
  if (maxAttempts !== '' && !isWhole(maxAttempts, 1, 32_767)) return 'Most attempts is a number from 1 to 32,767.'
  if (rate !== '' && !(Number(rate) > 0)) return 'Rows a second is a number above 0.'
  if (canary !== '' && !isWhole(canary, 1)) return 'Canaries are 1 or more.'
  if (maxWaiting !== '' && !isWhole(maxWaiting, 0)) return 'Most waiting is 0 or more.'
  return undefined
}

function isWhole(text: string, least: number, most = 2_147_483_647): boolean {
  const value = Number(text)
  return Number.isInteger(value) && value >= least && value <= most
}

function numberOf(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text)
}

/** A time of the browser's zone, as `<input type="datetime-local">` gives it. */
function momentOf(text: string): string | undefined {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
