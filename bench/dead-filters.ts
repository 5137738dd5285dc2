import { createHash } from 'node:crypto'
import type { DlqFilter } from 'spillway'

/** One way to narrow the list of dead letters that `fillDead` made. */
export interface DeadFilter {
  readonly filter: DlqFilter
  /** The same in SQL, to find the row before a page. */
  readonly where: string
}

/** Old rows are those that `fillDead` made the oldest of all. */
const OLD_ROWS = 5_000
/** Each lies on a page of its own: what is measured is that many reads of the heap. */
const SPREAD_IDS = 1_000
const NEVER = 'of-nothing'

const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
const sqlTime = (at: Date) => `'${at.toISOString()}'`

const equal = (key: 'queue' | 'kind' | 'reason' | 'cause', value: string): DeadFilter => ({
  filter: { [key]: value },
  where: `${key === 'reason' ? 'dlq_reason' : key} = '${value}'`,
})
const tagged = (tag: string): DeadFilter => ({ filter: { tag }, where: `tags @> array['${tag}']` })
const failedBy = (error: string): DeadFilter => ({
  filter: { error },
  where: `(error_message ilike '%${error}%' or error_class ilike '%${error}%')`,
})
const since = (at: Date): DeadFilter => ({ filter: { since: at }, where: `dlq_at >= ${sqlTime(at)}` })
const until = (at: Date): DeadFilter => ({ filter: { until: at }, where: `dlq_at < ${sqlTime(at)}` })
const these = (ids: readonly string[]): DeadFilter => ({ filter: { ids }, where: `id in (${ids.join(', ')})` })

/**
 * Every filter by itself: what many rows have, what only the oldest have, at the far end of the list, and what none has.
 *
 * @param ids Of what lies there, oldest death first.
 */
export function deadFilters(ids: readonly string[], oldEndedAt: Date): Readonly<Record<string, DeadFilter>> {
  const every = Math.max(1, Math.floor(ids.length / SPREAD_IDS))
  return {
    'no filter': { filter: {}, where: 'true' },
    queue: equal('queue', 'queue-3'),
    'old queue': equal('queue', 'old-queue'),
    'no such queue': equal('queue', NEVER),
    kind: equal('kind', 'billing.charge7'),
    'old kind': equal('kind', 'old.kind'),
    'no such kind': equal('kind', NEVER),
    reason: equal('reason', 'skipped'),
    'old reason': equal('reason', 'old reason'),
    'no such reason': equal('reason', NEVER),
    cause: equal('cause', createHash('md5').update('cause 7').digest('hex').slice(0, 16)),
    'old cause': equal('cause', '00000000000000ff'),
    'no such cause': equal('cause', 'ffffffffffffffff'),
    tag: tagged('urgent'),
    'rare tag': tagged('customer-730'),
    'old tag': tagged('old'),
    'no such tag': tagged(NEVER),
    error: failedBy('upstream 7 '),
    'error of one row': failedBy(`charge ${Math.floor(ids.length / 2)}`),
    'old error': failedBy('old upstream'),
    'no such error': failedBy(NEVER),
    since: since(ago(7)),
    'since nothing': since(ago(-1)),
    until: until(ago(20)),
    'old until': until(oldEndedAt),
    'until nothing': until(ago(400)),
    ids: these(ids.filter((_, n) => n % every === 0).slice(0, SPREAD_IDS)),
    'old ids': these(ids.slice(0, OLD_ROWS)),
    'no such ids': these(Array.from({ length: OLD_ROWS }, (_, n) => String(9_000_000_000_000 + n))),
  }
}
