import { entryJson, type HistoryEntry } from '../job/history.js'
import type { Job } from '../job/job.js'
import { DEFAULT_POLICY, retentionClass } from '../job/policy.js'
import { type JobState, type Place, STATES } from '../job/states.js'
import type { Database } from '../store/postgres/database.js'
import { fabricateQueries } from '../store/postgres/queries/fabricate.js'
import { SNAPSHOT } from '../store/postgres/rows.js'
import type { Inspecting } from '../store/store.js'

/** A job to be made; every field has a valid default for its state. A field the state's table lacks is refused. */
export interface JobSeed {
  /** Default: available. */
  readonly state?: JobState
  readonly id?: string
  readonly queue?: string
  readonly kind?: string
  readonly version?: number
  /** Any JSON value. */
  readonly payload?: unknown
  /** The payload's JSON text, where the text itself matters: big numbers, spaces, bad input. */
  readonly payloadText?: string
  readonly priority?: number
  readonly attempt?: number
  readonly crashAttempt?: number
  readonly maxAttempts?: number
  readonly chargeBase?: number
  readonly runLease?: number
  readonly generation?: number
  readonly handbacks?: number
  readonly createdAt?: Date
  readonly runAt?: Date
  readonly deadline?: Date | null
  readonly timeoutMs?: number | null
  readonly uniqueKey?: string | null
  readonly tags?: readonly string[] | null
  readonly metadata?: unknown
  readonly retention?: Readonly<Record<string, number>> | null
  /** Default: one error for each attempt that failed. */
  readonly history?: readonly HistoryEntry[]
  readonly releaseId?: string | null
  readonly originId?: string | null

  /** available, running: order inside the priority, and where the row lies. */
  readonly position?: string
  readonly slot?: number
  /** available: kept apart because nobody serves its kind, so many times. */
  readonly setAside?: number
  /** scheduled, retryable, and available when set aside. */
  readonly dueAt?: Date
  /** running, waiting, held, dead and finished: of the current or last attempt. */
  readonly startedAt?: Date | null
  readonly leaseId?: string | null
  /** running: the worker; default: one registered for this job. Part of the default `leaseId`. */
  readonly registration?: string
  readonly waitsUntil?: Date | null
  readonly callbackName?: string
  /** waiting: what answers it; none by default. */
  readonly callbackToken?: string
  /** waiting: ms until the next attempt, should its callback fail. */
  readonly retryDelayMs?: number
  readonly progress?: unknown

  readonly finalizedAt?: Date
  readonly handlerRunning?: boolean
  readonly reason?: string | null
  readonly result?: unknown
  readonly cause?: string
  readonly errorClass?: string | null
  readonly errorMessage?: string | null

  readonly dlqReason?: string
  readonly dlqAt?: Date
  readonly originalRunLease?: number
  readonly retainFrom?: Date
  /** null: written by an import or before the cluster was moved. */
  readonly dlqXid?: string | null
  readonly lastOperation?: string | null
  readonly fromState?: 'archived' | 'quarantined' | 'undecodable'
  readonly discardedAt?: Date
  readonly discardOperation?: string | null

  readonly heldAt?: Date
  readonly heldReason?: string
  readonly fingerprint?: string | null
}

export interface WorkerSeed {
  readonly registration?: string
  readonly name?: string
  readonly host?: string
  readonly bootId?: string
  readonly pidNamespace?: string
  readonly pid?: number
  readonly pidStarted?: string
  readonly state?: 'running' | 'stopping'
  readonly queues?: readonly string[]
  readonly kinds?: readonly string[]
  readonly concurrency?: number
  readonly version?: string
  readonly startedAt?: Date
  /** Default: now, by the store's clock. */
  readonly heartbeatAt?: Date
}

export interface Given {
  /**
   * Makes a valid job of any state, without an enqueue, a claim or a handler, and shows it as `getJob` does.
   *
   * @example
   * const dead = await given.job({ state: 'archived', attempt: 5, dlqReason: 'skipped' })
   */
  job(seed?: JobSeed): Promise<Job>
  /** The same `count` times in one statement; only the ids. Running ones share a worker and a claim. */
  jobs(count: number, seed?: JobSeed): Promise<readonly string[]>
  /** Registers a worker without a process; its registration. */
  worker(seed?: WorkerSeed): Promise<string>
}

/** Leases are numbered inside a registration, so that none is ever given out twice. */
const CLAIMS_PER_REGISTRATION = 1n << 36n

/** Makes rows for tests in the store that `db` and `schema` name. */
export function factories(db: Database, schema: string, store: Pick<Inspecting, 'getJob'>): Given {
  const queries = fabricateQueries(schema)

  async function jobs(count: number, seed: JobSeed = {}): Promise<readonly string[]> {
    const place = placeOf(seed)
    const row = rowOf(seed, place)
    if (place === 'leases' && seed.leaseId === undefined) {
      const registration =
        seed.registration ?? (await worker({ queues: [row['queue'] as string], kinds: [servedOf(seed)] }))
      row['lease_id'] = String(BigInt(registration) * CLAIMS_PER_REGISTRATION + 1n)
    }
    if (seed.finalizedAt) {
      const day = seed.finalizedAt.toISOString().slice(0, 10)
      await db.run(queries.partitions, [day, day])
    }
    const rows = await db.run(queries[place], [jsonText(row), count])
    return rows.map(([id]) => id)
  }

  async function worker(seed: WorkerSeed = {}): Promise<string> {
    const row = Object.entries({ queues: ['default'], kinds: ['test@1'], ...seed }).map(([key, value]) => [
      snake(key),
      value,
    ])
    const [made] = await db.run(queries.worker, [JSON.stringify(Object.fromEntries(row))])
    return made?.[0] as string
  }

  return {
    jobs,
    worker,
    async job(seed = {}) {
      const [id] = await jobs(1, seed)
      const job = await store.getJob(id as string, { payload: true })
      if (!job) throw new Error(`job ${id} was made and is nowhere`)
      return job
    },
  }
}

function servedOf(seed: JobSeed): string {
  return `${seed.kind ?? 'test'}@${seed.version ?? 1}`
}

function placeOf(seed: JobSeed): Place {
  return seed.setAside === undefined ? STATES[seed.state ?? 'available'].place : 'deferred_jobs'
}

/** Text that goes into a json column as it stands. */
class Json {
  constructor(readonly text: string) {}
}

type Row = Record<string, unknown>

/** The seed as columns, over what a valid row of the state has. */
function rowOf(seed: JobSeed, place: Place): Row {
  const state = seed.state ?? 'available'
  const ended = state === 'archived' || state === 'failed' || state === 'discarded'
  const ran = ended || ['retryable', 'running', 'waiting', 'completed', 'quarantined', 'undecodable'].includes(state)
  const maxAttempts = seed.maxAttempts ?? (ended ? 3 : 20)
  const attempt = seed.attempt ?? (ended ? maxAttempts : state === 'retryable' ? 1 : 0)
  const crashAttempt = seed.crashAttempt ?? (state === 'quarantined' ? 3 : 0)
  const row: Row = {
    queue: 'default',
    kind: 'test',
    payload: new Json('{}'),
    maxAttempts,
    attempt,
    crashAttempt,
    runLease: attempt + crashAttempt + (ran && !ended && state !== 'retryable' && state !== 'quarantined' ? 1 : 0),
    history: historyOf(attempt, seed),
    ...defaultsOf(state, seed.runLease ?? attempt + crashAttempt, seed),
    ...without(seed, 'state', 'registration', 'payloadText', 'version', 'startedAt'),
  }
  for (const column of JSON_COLUMNS) {
    if (seed[column] !== undefined) row[column] = seed[column] === null ? null : new Json(JSON.stringify(seed[column]))
  }
  if (seed.history) row['history'] = new Json(`[${seed.history.map(entryJson).join(',')}]`)
  if (seed.payloadText !== undefined) row['payload'] = new Json(seed.payloadText)
  if (seed.version !== undefined) row['schemaVersion'] = seed.version
  if (seed.startedAt !== undefined) row[place === 'leases' ? 'claimedAt' : 'startedAt'] = seed.startedAt
  if (place === 'deferred_jobs' && state === 'available') {
    row['state'] = state
    row['position'] ??= '1'
  }

  const columns = Object.entries(row).map(([key, value]) => [snake(key), value] as const)
  const unknown = columns
    .filter(([column, value]) => value !== undefined && !OWN[place].has(column))
    .map(([column]) => column)
  if (unknown.length > 0)
    throw new Error(`cannot make a job that is ${state} with ${unknown.join(', ')}: ${place} has no such column`)
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined))
}

const JSON_COLUMNS = ['payload', 'metadata', 'retention', 'result', 'progress'] as const

/** What a row of the state has beside the snapshot. Times are left to the store's clock. */
function defaultsOf(state: JobState, runLease: number, seed: JobSeed): Row {
  const error = { errorClass: 'Error', errorMessage: 'it failed' }
  const dead = { dlqReason: 'attempts_exhausted', originalRunLease: runLease, cause: 'cause-of-test', ...error }
  switch (state) {
    case 'available':
    case 'running':
    case 'waiting':
      return {}
    case 'scheduled':
    case 'retryable':
      return { state, ...(state === 'retryable' && { startedAt: new Date() }) }
    case 'completed':
    case 'failed':
    case 'cancelled': {
      const keptMs = seed.retention?.[state] ?? DEFAULT_POLICY.retention[state]
      const why = state === 'failed' ? { reason: 'attempts_exhausted', cause: 'cause-of-test', ...error } : {}
      return { state, retentionClass: retentionClass(keptMs), ...why }
    }
    case 'archived':
    case 'discarded':
      return dead
    case 'quarantined':
      return { state, heldReason: 'crash_bound', fingerprint: 'fingerprint-of-test' }
    case 'undecodable':
      return { state, heldReason: 'undecodable' }
  }
}

function historyOf(attempt: number, seed: JobSeed): Json | undefined {
  if (attempt === 0) return undefined
  const now = Date.now()
  const entries = Array.from({ length: Math.min(attempt, 50) }, (_, n) =>
    entryJson({
      type: 'error',
      at: new Date(now - (attempt - n) * 1000),
      startedAt: new Date(now - (attempt - n) * 1000 - 10),
      generation: seed.generation ?? 0,
      attempt: n,
      leaseId: null,
      worker: 'worker',
      name: 'Error',
      message: 'it failed',
      stack: null,
      code: null,
      cause: [],
      truncated: false,
    }),
  )
  return new Json(`[${entries.join(',')}]`)
}

const DEATH =
  'dlq_at dlq_reason original_run_lease cause error_class error_message dlq_xid retain_from lease_id started_at progress'
const own = (columns: string): ReadonlySet<string> => new Set([...SNAPSHOT, ...columns.split(' ')])

/** Which columns each place has, to refuse a field that would be lost. */
const OWN: Readonly<Record<Place, ReadonlySet<string>>> = {
  ready_entries: own('position slot'),
  leases: own('position lease_id claimed_at slot'),
  deferred_jobs: own('state position due_at set_aside started_at'),
  waiting_jobs: own('state lease_id started_at waits_until callback_name callback_token retry_delay_ms progress'),
  terminal_entries: own(
    'state retention_class finalized_at started_at lease_id handler_running reason cause error_class error_message result progress',
  ),
  dlq_entries: own(DEATH),
  dlq_bin: own(`${DEATH} from_state discarded_at discard_operation`),
  held_entries: own('state held_at held_reason fingerprint lease_id started_at progress'),
}

/** JSON in which {@link Json} texts stand as they are: JSON.stringify would round their numbers. */
function jsonText(row: Row): string {
  const fields = Object.entries(row).map(
    ([column, value]) => `${JSON.stringify(column)}:${value instanceof Json ? value.text : JSON.stringify(value)}`,
  )
  return `{${fields.join(',')}}`
}

function without<T extends object>(value: T, ...keys: (keyof T)[]): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as keyof T))) as Partial<T>
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
