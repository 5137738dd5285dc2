import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Backoff } from './backoff.js'
import type { Callback, CallbackOptions } from './callback.js'
import type { DeathTxHandler } from './death.js'
import { type Duration, parseDuration } from './duration.js'
import { SpillwayError, shown } from './errors.js'
import type { Job } from './job.js'
import { checkText } from './payload.js'
import { checkRetention, type Retention } from './policy.js'
import type { Upcasters } from './versions.js'

/** What the handler of an attempt is given beside the payload. */
export interface HandlerContext {
  /** Aborts on timeout, deadline, cancel, lost lease and shutdown; its `reason` says which. */
  readonly signal: AbortSignal
  /** The job as it was claimed. */
  readonly job: Job
  /** Stores how far the attempt is; anything JSON, the last one wins. */
  progress(value: unknown): Promise<void>
  /**
   * Makes a callback, or finds the one of this name that an earlier run of this handler made: it is kept through crashes
   * and retries until a redrive. Different things to wait for need different names.
   *
   * What stands before {@link Callback.result} runs twice: make it safe to repeat.
   *
   * @param name - 1 to 255 characters.
   * @throws `invalid_option`; `lease_lost` where the attempt has lost its job.
   *
   * @example
   * const approval = await ctx.callback<{ ok: boolean }>('approval', { timeout: '2d' })
   * await askForApproval(approval.url)
   * const { ok } = await approval.result()
   */
  callback<Answer = unknown>(name: string, options?: CallbackOptions): Promise<Callback<Answer>>
}

/** User code that runs one attempt. What it returns or throws is how the attempt ended. */
export type Handler<Output> = (payload: Output, context: HandlerContext) => unknown

/** A definition as the runtime uses it: everything checked, durations in ms. */
export interface JobSpec {
  readonly kind: string
  /** Names the kind had before: jobs stored under them run with the same handler. */
  readonly aliases: readonly string[]
  readonly schema: StandardSchemaV1 | null
  readonly version: number
  readonly upcast: Upcasters
  readonly queue: string
  readonly maxAttempts: number
  /** Limit of one attempt; null is none. */
  readonly timeoutMs: number | null
  /** null: the default backoff. */
  readonly backoff: Backoff | null
  readonly priority: number
  readonly tags: readonly string[]
  /** What differs from the queue's; null where nothing does. */
  readonly retention: Partial<Retention> | null
  /** Integers that JavaScript would round travel as BigInt. */
  readonly bigint: boolean
  readonly onDeathTx: DeathTxHandler | null
}

/** The part of a definition that `enqueue` takes: a program that only enqueues needs no handler's types. */
export interface EnqueueableJob<Input = unknown> extends JobSpec {
  /** Only for the compiler. */
  readonly types?: { readonly input: Input }
}

/** A kind of job: what `enqueue` takes and what its handler gets. */
export interface JobDefinition<Input = unknown, Output = Input> extends JobSpec {
  /** Says what runs jobs of this kind; hand the answer to a worker. */
  handle(run: Handler<Output>): JobHandler
  /** Only for the compiler. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

/** A definition with the code that runs it. `run` takes a payload that was decoded and validated. */
export interface JobHandler {
  readonly definition: JobSpec
  readonly run: Handler<unknown>
}

export interface JobOptions {
  /** The job's name in the store, 1 to 255 characters. To rename it, give the old name as an alias. */
  readonly kind: string
  /** Names the kind had before. Jobs and dead letters stored under them run with this handler, and keep their name. */
  readonly aliases?: readonly string[]
  /** Version of the payload's shape, 1 or more. Default: 1. */
  readonly version?: number
  /** For each older version that may still be stored, how to get to the next. */
  readonly upcast?: Upcasters
  /** Default: `default`. */
  readonly queue?: string
  /** Attempts that may fail before the job is given up, 1 or more. Default: 20. */
  readonly maxAttempts?: number
  /** Limit of one attempt. Default: none. */
  readonly timeout?: Duration
  /** Ms until the next attempt. Default: min(15 s · 2^n, 1 h) ± 10 %. */
  readonly backoff?: Backoff
  /** 0…100, lower runs first. Default: 50. */
  readonly priority?: number
  readonly tags?: readonly string[]
  /** How long its jobs are kept, where it differs from the queue's: ms or `'7d'`, 0 for none, null for good. */
  readonly retention?: { readonly [K in keyof Retention]?: Duration | null }
  /** Integers beyond 2^53 are taken and given as BigInt instead of being refused. Default: false. */
  readonly bigint?: boolean
  /**
   * Runs in the transaction that writes a death of this kind, when the worker writes it: a death by an operator, of a job
   * that waits for a callback, or while no live worker has this definition, runs none. Such deaths are written one by one,
   * so it costs speed.
   */
  readonly onDeathTx?: DeathTxHandler
}

/**
 * Defines a kind of job: its payload, and how it runs where an enqueue does not say otherwise. Types of `enqueue` and
 * handler come from the schema (any Standard Schema), or from the type argument where there is none.
 *
 * @throws {@link SpillwayError} `invalid_option` for a value out of range.
 *
 * @example
 * const sendMail = defineJob({ kind: 'send_mail', schema: z.object({ to: z.string() }), maxAttempts: 5, timeout: '30s' })
 * const handler = sendMail.handle(async ({ to }, { signal }) => { … })
 */
export function defineJob<Schema extends StandardSchemaV1>(
  options: JobOptions & { readonly schema: Schema },
): JobDefinition<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>
export function defineJob<Payload = unknown>(options: JobOptions & { readonly schema?: never }): JobDefinition<Payload>
export function defineJob(options: JobOptions & { readonly schema?: StandardSchemaV1 }): JobDefinition {
  const { kind, version = 1, queue = 'default', maxAttempts = 20, priority = 50, tags = [] } = options
  const definition: JobSpec = {
    kind: checkText('kind', kind),
    aliases: checkAliases(kind, options.aliases ?? []),
    schema: options.schema ?? null,
    version: whole('version', version, 1, 32_767),
    upcast: checkUpcast(options.upcast ?? {}, version),
    queue: checkText('queue', queue),
    maxAttempts: whole('maxAttempts', maxAttempts, 1, 32_767),
    timeoutMs: options.timeout === undefined ? null : parseDuration(options.timeout, 'timeout'),
    backoff: options.backoff ?? null,
    priority: whole('priority', priority, 0, 100),
    tags: checkTags(tags),
    retention: options.retention === undefined ? null : checkRetention(options.retention),
    bigint: options.bigint ?? false,
    onDeathTx: options.onDeathTx ?? null,
  }
  return { ...definition, handle: (run) => ({ definition, run }) }
}

/** @throws {@link SpillwayError} `invalid_option` where `value` is no priority: a whole number, 0 to 100. */
export function checkPriority(value: unknown): number {
  return whole('priority', value, 0, 100)
}

/** @throws {@link SpillwayError} `invalid_option` where `value` is no whole number of at least 1 (and at most 32,767). */
export function checkMaxAttempts(value: unknown): number {
  return whole('maxAttempts', value, 1, 32_767)
}

/** The tags without repetitions, in order. @throws {@link SpillwayError} `invalid_option`. */
export function checkTags(tags: unknown): readonly string[] {
  if (!Array.isArray(tags))
    throw new SpillwayError('invalid_option', 'cannot use these tags: they are no list; a list of texts is accepted')
  if (tags.length > 100)
    throw new SpillwayError('invalid_option', `cannot use ${tags.length} tags: at most 100 are accepted`)
  return [...new Set(tags.map((tag: unknown) => checkText('tag', tag)))]
}

/** The kinds of stored jobs that a definition runs: its own, and the names it had before. */
export function kindsOf({ kind, aliases }: Pick<JobSpec, 'kind' | 'aliases'>): readonly string[] {
  return [kind, ...aliases]
}

function checkAliases(kind: string, aliases: readonly string[]): readonly string[] {
  const checked = [...new Set(aliases.map((alias) => checkText('alias', alias)))]
  if (!checked.includes(kind)) return checked
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${shown(kind)} as an alias of itself: the names the kind had before are accepted`,
  )
}

function whole(name: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${shown(value)} as ${name}: a whole number from ${min} to ${max} is accepted`,
  )
}

/** A step without the next one would never be reached, and jobs of its version never run. */
function checkUpcast(upcast: Upcasters, version: number): Upcasters {
  const steps = Object.keys(upcast).map(Number)
  for (const step of steps) {
    if (!Number.isInteger(step) || step < 1 || step >= version) {
      throw new SpillwayError(
        'invalid_option',
        `cannot upcast from version ${step}: the kind is at version ${version}; versions from 1 to ${version - 1} are accepted`,
      )
    }
    if (step + 1 < version && upcast[step + 1] === undefined) {
      throw new SpillwayError(
        'invalid_option',
        `cannot upcast from version ${step}: there is no step from ${step + 1} to ${step + 2}; add it`,
      )
    }
  }
  return upcast
}
