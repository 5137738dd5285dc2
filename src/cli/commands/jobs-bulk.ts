import { type Command, InvalidArgumentError } from 'commander'
import type { BulkOptions, BulkRetryOptions } from '../../client/bulk-options.js'
import type { DeadLetters } from '../../client/dead-letters.js'
import type { Jobs } from '../../client/jobs.js'
import type { OperationHandle } from '../../client/operations.js'
import { isSpillwayError, SpillwayError } from '../../job/errors.js'
import type { Selector } from '../../job/selector.js'
import { isJobState, JOB_STATES, type JobState } from '../../job/states.js'
import type { BulkResult } from '../../store/store.js'
import { showActed } from '../acted.js'
import { bulkOptions, type RetryManyFlags, retryManyFlags, retryManyOptions, scopeOf } from '../bulk-flags.js'
import { runs, type Session, subcommand } from '../command.js'
import { canAsk, confirm } from '../confirm.js'
import { filterFlags } from '../dead-letter-filters.js'
import { runHere } from '../operation-run.js'
import { AT_ONCE, asked, commandOfPreview, showResult } from './dlq-bulk.js'

interface JobsBulkFlags extends RetryManyFlags {
  readonly yes?: boolean
}

/** Actions that are operations: by ids or by filter. */
const WIDE = {
  retry: {
    done: 'retried',
    some: ({ dlq }, ids, options) => dlq.retryIds(ids, { budget: 'keep', ...options }),
    many: ({ dlq }, selector, options) => dlq.retryMany(selector, { budget: 'keep', ...options }),
  },
  discard: {
    done: 'discarded',
    some: ({ dlq }, ids, options) => dlq.discardIds(ids, options),
    many: ({ dlq }, selector, options) => dlq.discardMany(selector, options),
  },
  purge: {
    done: 'purged',
    some: ({ jobs }, ids, { reason }) => jobs.purgeIds(ids, { reason }),
    many: ({ dlq }, selector, options) => dlq.purgeMany(selector, options),
  },
  move: {
    done: 'moved',
    some: ({ dlq }, ids, options) => dlq.moveIds(ids, options),
    many: ({ dlq }, selector, options) => dlq.moveMany(selector, options),
  },
} as const satisfies Record<string, WideAction>

/** Actions that take one job at a time. */
const ONE_BY_ONE = { cancel: 'cancelled', kill: 'killed', promote: 'promoted' } as const

interface Clients {
  readonly dlq: DeadLetters
  readonly jobs: Jobs
}

interface WideAction {
  readonly done: string
  some(client: Clients, ids: readonly string[], options: BulkRetryOptions): Promise<BulkResult>
  many(client: Clients, selector: Selector, options: BulkRetryOptions): Promise<OperationHandle>
}

type Running = Session<JobsBulkFlags>

const EXAMPLES = `
Examples:
  spillway jobs bulk retry --queue billing --dry-run
  spillway jobs bulk discard --state quarantined --queue billing --reason 'of no use'
  spillway jobs bulk cancel 800042 800043`

/** `spillway jobs purge|bulk` */
export function jobsBulkCommands(jobs: Command): void {
  runs<{ reason?: string; yes?: boolean }>(
    subcommand(
      jobs,
      'purge <ids...>',
      'delete jobs that are not live for good, in whatever state; at most 1000 at once',
    )
      .option('--reason <text>', 'why; kept in the audit log')
      .option('--yes', 'on a terminal: do not ask')
      .addHelpText('after', "\nExample:\n  spillway jobs purge 800042 800043 --reason 'the customer asked for it'"),
    async ({ client, out, options: { reason, yes } }, given) => {
      const ids = given as unknown as readonly string[]
      if (!yes && canAsk(out))
        await confirm(`delete ${ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs`} for good?`)
      if (ids.length === 1) return showActed(out, 'purged', await client.jobs.purge(ids[0]!, { reason }))
      showResult(out, 'purged', await client.jobs.purgeIds(ids, { reason }))
    },
  )

  const bulk = subcommand(
    jobs,
    'bulk <action> [ids...]',
    `many jobs at once: ${[...Object.keys(WIDE), ...Object.keys(ONE_BY_ONE)].join(', ')}; by ids, or by filters`,
  )
  runs<JobsBulkFlags>(
    retryManyFlags(filterFlags(bulk, { acts: true }))
      .option('--state <state>', 'that are in this state', state)
      .option('--yes', 'of a purge on a terminal: do not ask')
      .addHelpText('after', EXAMPLES),
    async (session, action, given) => {
      const ids = (given ?? []) as unknown as readonly string[]
      if (isWide(action!)) return wide(session, action, ids)
      if (isOneByOne(action!)) return oneByOne(session, action, ids)
      const known = [...Object.keys(WIDE), ...Object.keys(ONE_BY_ONE)].join(', ')
      throw new SpillwayError('invalid_option', `cannot do ${JSON.stringify(action)} in bulk: known are ${known}`)
    },
  )
}

async function wide(session: Running, action: keyof typeof WIDE, ids: readonly string[]): Promise<void> {
  const { client, out, options } = session
  const { done, some, many }: WideAction = WIDE[action]
  const selector = scopeOf(options, ids)
  const terms = optionsFor(action, options)
  const isOperation = Object.keys(terms).some((key) => OPERATION_ONLY.has(key)) || options.detach === true
  const mustAsk = action === 'purge' && !options.yes && !options.dryRun && canAsk(out)
  if (ids.length > 0 && ids.length <= AT_ONCE && !isOperation) {
    if (mustAsk) await confirm(`delete ${ids.length} jobs for good?`)
    return showResult(out, done, await some(client, ids, terms))
  }
  if (action === 'purge' && ids.length > 0) {
    throw new SpillwayError(
      'invalid_option',
      `cannot purge ${ids.length} named jobs as an operation: name at most ${AT_ONCE}, without --dry-run, --rate and --detach; \`spillway dlq purge\` takes more dead letters`,
    )
  }
  const look = (options: BulkOptions) => many(client, selector, { ...terms, ...options })
  const preview = mustAsk ? await asked(look) : {}
  const handle = await look(preview)
  const queue = action === 'retry' ? (options.toQueue ?? handle.started.selector.queue) : undefined
  await runHere({ client, out }, handle, { detach: options.detach, queue, commandFor: commandOfPreview })
}

/** Each in a transaction of its own: what was done before an error stays done, and is said. */
async function oneByOne(
  { client, out, options }: Running,
  action: keyof typeof ONE_BY_ONE,
  ids: readonly string[],
): Promise<void> {
  const { reason, dryRun, rate, preview, detach } = options
  optionsFor(action, options)
  scopeOf(options, ids)
  if (ids.length === 0 || dryRun || rate !== undefined || preview !== undefined || detach) {
    throw new SpillwayError(
      'invalid_option',
      `cannot ${action} jobs by a filter or as an operation yet: name their ids; \`spillway jobs list --state … --json\` lists them`,
    )
  }
  if (ids.length > AT_ONCE) {
    throw new SpillwayError('invalid_option', `cannot ${action} ${ids.length} jobs at once: at most ${AT_ONCE} are`)
  }
  const succeeded: string[] = []
  const failed: { id: string; code: string; message: string }[] = []
  for (const id of new Set(ids)) {
    try {
      await client.jobs[action](id, { reason })
      succeeded.push(id)
    } catch (error) {
      if (!isSpillwayError(error) || !OF_ONE_JOB.has(error.code)) throw error
      failed.push({ id, code: error.code, message: error.message })
    }
  }
  showResult(out, ONE_BY_ONE[action], { succeeded, failed })
}

/** What says something about one job, and nothing about the next. */
const OF_ONE_JOB: ReadonlySet<string> = new Set(['not_found', 'invalid_state', 'job_moving'])
const OPERATION_ONLY: ReadonlySet<string> = new Set(['dryRun', 'rate', 'canary', 'preview'])

/** @throws `invalid_option` for what only a retry has. */
function optionsFor(action: string, flags: JobsBulkFlags): BulkRetryOptions {
  if (action === 'retry') return retryManyOptions(flags)
  const common = bulkOptions(flags)
  const [other] = Object.keys(retryManyOptions(flags)).filter((key) => !Object.hasOwn(common, key))
  if (other === undefined) return common
  throw new SpillwayError('invalid_option', `cannot ${action} with ${other}: only a retry takes it`)
}

function isWide(action: string): action is keyof typeof WIDE {
  return Object.hasOwn(WIDE, action)
}

function isOneByOne(action: string): action is keyof typeof ONE_BY_ONE {
  return Object.hasOwn(ONE_BY_ONE, action)
}

function state(text: string): JobState {
  if (isJobState(text)) return text
  throw new InvalidArgumentError(`Accepted are ${JOB_STATES.join(', ')}.`)
}
