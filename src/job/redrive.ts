/**
 * How many attempts a retried job gets: all of them again, those that are left (at least one), or so many more.
 */
export type RetryBudget = 'fresh' | 'keep' | { readonly extra: number }

/** What a retry has to know about the job that gave up. */
export interface DeadJob {
  readonly attempt: number
  readonly crashAttempt: number
  readonly runLease: number
  readonly maxAttempts: number
  readonly generation: number
  readonly deadline: Date | null
}

export interface RedriveOptions {
  readonly budget: RetryBudget
  readonly maxAttempts?: number | undefined
  readonly deadline?: Date | undefined
  /** The queue's cap on retries of one job. */
  readonly maxGenerations: number
  /** Past the cap. Default: false. */
  readonly force?: boolean | undefined
}

export type Redriven =
  | { readonly ok: true; readonly job: DeadJob & { readonly chargeBase: number } }
  | { readonly ok: false; readonly code: 'deadline_passed' | 'generation_cap'; readonly message: string }

/**
 * The counters of a job after a retry. Pure; a refusal is an answer, and means the dead letter stays as it is.
 *
 * | budget | attempt | runLease | crashAttempt | maxAttempts | a deadline that has passed |
 * |---|---|---|---|---|---|
 * | `fresh` | 0 | 0 | 0 | = | cleared |
 * | `keep` | = | = | = | = | refused, unless a new one is given |
 * | `extra: N` | = | = | 0 | max(itself, attempt + N) | cleared |
 *
 * With `keep` an exhausted job gets exactly one more run. A new deadline that has already passed is refused.
 */
export function redrive(job: DeadJob, options: RedriveOptions, now: Date): Redriven {
  const { budget, maxGenerations, force = false } = options
  const generation = job.generation + 1
  if (generation > maxGenerations && !force) {
    return {
      ok: false,
      code: 'generation_cap',
      message: `it was retried ${job.generation} times, and ${maxGenerations} is the queue's cap; \`force\` goes past it`,
    }
  }

  const deadline = options.deadline ?? job.deadline
  const hasPassed = deadline !== null && deadline <= now
  if (hasPassed && (budget === 'keep' || options.deadline !== undefined)) {
    return {
      ok: false,
      code: 'deadline_passed',
      message: `its deadline ${deadline.toISOString()} has passed; give a new one, or the budget fresh`,
    }
  }

  const maxAttempts = options.maxAttempts ?? job.maxAttempts
  const attempt = budget === 'fresh' ? 0 : job.attempt
  const crashAttempt = budget === 'keep' ? job.crashAttempt : 0
  return {
    ok: true,
    job: {
      attempt,
      crashAttempt,
      chargeBase: attempt + crashAttempt,
      runLease: budget === 'fresh' ? 0 : job.runLease,
      maxAttempts: typeof budget === 'object' ? Math.max(maxAttempts, attempt + budget.extra) : maxAttempts,
      generation,
      deadline: hasPassed ? null : deadline,
    },
  }
}
