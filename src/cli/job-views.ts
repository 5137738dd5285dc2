import { exactJob } from '../client/wire.js'
import { SpillwayError } from '../job/errors.js'
import type { HistoryEntry } from '../job/history.js'
import type { Job } from '../job/job.js'
import type { Page, StoredQueue } from '../store/store.js'
import { nextPageCommand } from './next-page.js'
import type { Cell, Output } from './output.js'
import { pausedText } from './paused.js'
import { block, json, oneLine, span } from './shown.js'

/** One page of jobs: a table made of `head` and `row`, and the command for the next page; or one document. */
export function showPage(
  out: Output,
  page: Page<Job>,
  head: readonly string[],
  row: (job: Job) => readonly Cell[],
  empty: string,
): void {
  if (out.isJson) {
    out.document({ items: page.items.map(exactJob), cursor: page.cursor })
    return
  }
  out.table(head, page.items.map(row), empty)
  if (page.cursor !== null)
    out.line(`\n${out.colors.dim('next page:')} ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
}

/** What is said of an id that no dead letter has. */
export function noDeadLetter(id: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `no dead letter ${oneLine(id, 40)}; \`spillway jobs get\` finds a job in any state`,
  )
}

/** Failures so far of all that may be. */
export function attemptsOf(job: Job): string {
  const crashes = job.crashAttempt > 0 ? ` +${job.crashAttempt}` : ''
  return `${job.attempt}/${job.maxAttempts}${crashes}`
}

/** Everything there is to know about one job, and about its queue where that is paused. */
export function showJob(out: Output, job: Job, pausedQueue?: StoredQueue): void {
  if (out.isJson) {
    out.document(pausedQueue === undefined ? exactJob(job) : { ...exactJob(job), queuePaused: pauseOf(pausedQueue) })
    return
  }
  const { dlq } = job
  out.pairs([
    ['job', job.id],
    ['state', out.colors.bold(job.state)],
    ['reason', oneLine(dlq?.reason ?? job.reason ?? '')],
    ['error', dlq === null ? '' : oneLine([dlq.errorClass, dlq.errorMessage].filter(Boolean).join(': '))],
    ['died', out.longTime(dlq?.dlqAt ?? null)],
    ['cause', dlq?.cause],
    ['kind', oneLine(job.kind) + (job.version === 1 ? '' : ` v${job.version}`)],
    ['queue', oneLine(job.queue)],
    ['paused', pausedQueue && oneLine(pausedText(out, pausedQueue))],
    ['priority', job.priority],
    ['attempts', `${job.attempt} of ${job.maxAttempts} failed`],
    ['crashes', job.crashAttempt || null],
    ['blocked', blockOf(job)],
    ['generation', job.generation || null],
    ['run lease', dlq === null ? job.runLease || null : dlq.originalRunLease],
    ['lease', job.leaseId],
    ['created', out.longTime(job.createdAt)],
    ['due', out.longTime(job.runAt)],
    ['started', out.longTime(job.startedAt)],
    ['ended', out.longTime(job.finalizedAt)],
    ['waits for', oneLine(job.callback?.name ?? '')],
    ['until', out.longTime(job.callback?.waitsUntil ?? null)],
    ['deadline', out.longTime(job.deadline)],
    ['timeout', job.timeoutMs === null ? null : span(job.timeoutMs)],
    ['unique key', oneLine(job.uniqueKey ?? '')],
    ['tags', job.tags.map((tag) => oneLine(tag)).join(', ')],
  ])
  const exact = exactJob(job)
  showValue(out, 'metadata', exact.metadata)
  showValue(out, 'payload', exact.payload)
  showValue(out, 'progress', exact.progress)
  showValue(out, 'result', exact.result)
  showHistory(out, job.history ?? [])
}

/** What keeps it from running, where that is its fingerprint. */
function blockOf({ state, blocked }: Job): string | null {
  if (blocked === undefined) return null
  const { fingerprint, because } = blocked
  if (because === 'suspected') return `suspected: runs alone, fingerprint ${fingerprint} has crashed`
  return state === 'quarantined' ? `fingerprint ${fingerprint}` : `by the quarantine of fingerprint ${fingerprint}`
}

function pauseOf({ pausedAt, pausedBy, pausedReason }: StoredQueue) {
  return { at: pausedAt, by: pausedBy, reason: pausedReason }
}

function showValue(out: Output, name: string, value: unknown): void {
  if (value === undefined || value === null) return
  out.line(`\n${out.colors.bold(name)}\n${block(json(value, 2), '  ')}`)
}

function showHistory(out: Output, history: readonly HistoryEntry[]): void {
  if (history.length === 0) return
  out.line(`\n${out.colors.bold('history')} (oldest first)`)
  for (const entry of history) {
    const run = [`attempt ${entry.attempt + 1}`, entry.generation > 0 && `generation ${entry.generation}`].filter(
      Boolean,
    )
    const where = entry.worker === null ? [] : [`on ${oneLine(entry.worker)}`]
    const took = entry.startedAt === null ? [] : [`after ${span(entry.at.getTime() - entry.startedAt.getTime())}`]
    const about = entry.leaseId === null && entry.startedAt === null ? [] : [...run, ...took, ...where]
    out.line(`  ${out.time(entry.at)}  ${out.colors.bold(entry.type)}  ${out.colors.dim(about.join(', '))}`.trimEnd())
    for (const line of wordsOf(entry)) out.line(block(line, '    '))
  }
}

/** What an entry says beside when and where. */
function wordsOf(entry: HistoryEntry): string[] {
  if ('message' in entry && 'name' in entry) {
    const causes = entry.cause.map((cause) => `caused by ${cause.name}: ${cause.message}`)
    const note = entry.note === undefined ? [] : [`(${entry.note})`]
    // The first line of a stack usually repeats name and message.
    const frames = (entry.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .map((line) => `  ${line.trim()}`)
    return [`${entry.name}: ${entry.message}`, ...frames, ...causes, ...note]
  }
  const {
    at: _,
    startedAt: __,
    generation: ___,
    attempt: ____,
    leaseId: _____,
    worker: ______,
    type: _______,
    ...rest
  } = entry as HistoryEntry & Record<string, unknown>
  const said = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined)
  return said.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : json(value)}`)
}
