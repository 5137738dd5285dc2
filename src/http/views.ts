import { exactJob, wireJson } from '../client/wire.js'
import type { HistoryEntry } from '../job/history.js'
import type { Job } from '../job/job.js'
import type { Masker } from '../job/mask.js'
import { decodePayload } from '../job/payload.js'

/** Places of history entries that hold what users gave; the rest is ours. */
const TEXTS = ['message', 'stack', 'why', 'reason', 'note'] as const

/** What of a job is what users gave as JSON. */
const USERS: ReadonlySet<string> = new Set(['payload', 'metadata', 'result', 'progress'])

/** How things are shown: without what is masked, in every answer. */
export class Views {
  constructor(readonly masker: Masker) {}

  job(job: Job): Job {
    const exact = exactJob(job)
    return {
      ...exact,
      metadata: this.masker.mask(exact.metadata),
      ...('payload' in exact ? { payload: this.masker.mask(exact.payload) } : {}),
      ...(exact.result === undefined ? {} : { result: this.masker.mask(exact.result) }),
      ...(exact.progress === undefined ? {} : { progress: this.masker.mask(exact.progress) }),
      ...(exact.history === undefined ? {} : { history: exact.history.map((entry) => this.entry(entry)) }),
      reason: exact.reason === null ? null : this.masker.text(exact.reason),
      dlq:
        exact.dlq === null
          ? null
          : { ...exact.dlq, errorMessage: exact.dlq.errorMessage && this.masker.text(exact.dlq.errorMessage) },
    }
  }

  /** A line of an export. Without anything to hide it goes as it is, to the last digit. */
  line(line: string): string {
    const decoded = decodePayload(line, { bigint: true })
    if (!decoded.ok) return line
    const members = Object.entries(decoded.value as object).map(([key, value]: [string, unknown]) => [
      key,
      this.member(key, value),
    ])
    const shown = wireJson(Object.fromEntries(members))
    return shown === wireJson(decoded.value) ? line : shown
  }

  private member(key: string, value: unknown): unknown {
    if (USERS.has(key)) return this.masker.mask(value)
    if (key === 'history' && Array.isArray(value)) return value.map((entry) => this.entry(entry as HistoryEntry))
    return typeof value === 'string' ? this.masker.text(value) : value
  }

  entry(entry: HistoryEntry): HistoryEntry {
    const shown: Record<string, unknown> = { ...entry }
    for (const key of TEXTS) {
      const text = shown[key]
      if (typeof text === 'string') shown[key] = this.masker.text(text)
    }
    for (const key of ['details', 'progress', 'before', 'cause'] as const) {
      if (shown[key] !== undefined) shown[key] = this.masker.mask(shown[key])
    }
    return shown as unknown as HistoryEntry
  }
}
