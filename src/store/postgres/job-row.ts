import { parseHistory } from '../../job/history.js'
import type { Job } from '../../job/job.js'
import type { JobState } from '../../job/states.js'

type Text = string | null

/** What a list says of a job, as text, in the order of `jobColumns`. */
export type JobRow = [
  id: string,
  state: JobState,
  queue: string,
  kind: string,
  version: string,
  priority: string,
  attempt: string,
  crashAttempt: string,
  maxAttempts: string,
  runLease: string,
  generation: string,
  handbacks: string,
  createdAt: string,
  runAt: string,
  deadline: Text,
  timeoutMs: Text,
  uniqueKey: Text,
  tags: Text,
  metadata: Text,
  startedAt: Text,
  finalizedAt: Text,
  leaseId: Text,
  reason: Text,
  dlqReason: Text,
  dlqAt: Text,
  originalRunLease: Text,
  cause: Text,
  errorClass: Text,
  errorMessage: Text,
  callback: Text,
]

/** What the detail adds. */
export type JobDetail = [payload: Text, history: Text, result: Text, progress: Text, originId: Text]

/** A job as lists show it. */
export function jobOf(row: JobRow): Job {
  const [id, state, queue, kind, version, priority, attempt, crashAttempt, maxAttempts, runLease, generation] = row
  const [handbacks, createdAt, runAt, deadline, timeoutMs, uniqueKey, tags, metadata] = row.slice(11) as Text[]
  const [startedAt, finalizedAt, leaseId, reason, dlqReason, dlqAt, originalRunLease, cause] = row.slice(19) as Text[]
  const [errorClass, errorMessage, callback] = row.slice(27) as Text[]
  return {
    id,
    state,
    queue,
    kind,
    version: Number(version),
    priority: Number(priority),
    attempt: Number(attempt),
    crashAttempt: Number(crashAttempt),
    maxAttempts: Number(maxAttempts),
    runLease: Number(runLease),
    generation: Number(generation),
    handbacks: Number(handbacks),
    createdAt: dateOf(createdAt) as Date,
    runAt: dateOf(runAt) as Date,
    deadline: dateOf(deadline),
    timeoutMs: timeoutMs == null ? null : Number(timeoutMs),
    uniqueKey: uniqueKey ?? null,
    tags: (jsonOf(tags) as string[] | null) ?? [],
    metadata: jsonOf(metadata),
    startedAt: dateOf(startedAt),
    finalizedAt: dateOf(finalizedAt),
    leaseId: leaseId ?? null,
    reason: reason ?? null,
    dlq:
      dlqReason == null
        ? null
        : {
            reason: dlqReason,
            dlqAt: dateOf(dlqAt) as Date,
            originalRunLease: Number(originalRunLease),
            cause: cause ?? '',
            errorClass: errorClass ?? null,
            errorMessage: errorMessage ?? null,
          },
    ...waitedFor(callback ?? null),
  }
}

/**
 * A job whole. With the payload comes its stored text, because JSON.parse rounds large integers: what saves a payload
 * again saves the text.
 */
export function detailedJobOf(row: JobRow, [payload, history, result, progress, originId]: JobDetail): Job {
  const entries = parseHistory(history)
  return {
    ...jobOf(row),
    ...(payload === null ? {} : { payload: jsonOf(payload), payloadText: payload }),
    history: payload === null ? entries.map(withoutPayload) : entries,
    ...(result === null ? {} : { result: jsonOf(result) }),
    ...(progress === null ? {} : { progress: jsonOf(progress) }),
    ...(originId === null ? {} : { originId }),
  }
}

function waitedFor(text: Text): Pick<Job, 'callback'> {
  if (text === null) return {}
  const read = JSON.parse(text) as { id: string; name: string; waits_until: number | null }
  const { id, name, waits_until: until } = read
  return { callback: { id, name, waitsUntil: until === null ? null : new Date(until) } }
}

/** Milliseconds since 1970, as text with fractions, as a Date. */
export function dateOf(ms: Text | undefined): Date | null {
  return ms == null ? null : new Date(Number(ms))
}

/** A retry with another payload keeps the one before; it is shown to nobody who did not ask for payloads. */
function withoutPayload<Entry extends object>(entry: Entry): Entry {
  if (!('payloadBefore' in entry)) return entry
  const { payloadBefore: _, ...rest } = entry
  return rest as Entry
}

function jsonOf(text: Text | undefined): unknown {
  return text == null ? null : (JSON.parse(text) as unknown)
}

/** What keeps a job from running, as the store says it. */
export type BlockedRow = [fingerprint: string, since: Text, because: 'quarantined' | 'suspected']

export function blockedOf([fingerprint, since, because]: BlockedRow): NonNullable<Job['blocked']> {
  return { fingerprint, since: dateOf(since), because }
}
