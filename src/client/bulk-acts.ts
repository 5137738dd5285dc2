import { InvalidStateError, SpillwayError } from '../job/errors.js'
import type { Selector } from '../job/selector.js'
import type { JobState } from '../job/states.js'
import type {
  Act,
  Acted,
  BulkAction,
  BulkRequest,
  BulkResult,
  Operation,
  Store,
  StoreInTransaction,
} from '../store/store.js'
import { type ActOptions, actOf, checkJobId } from './act.js'
import { type BulkRetryOptions, toBulkRequest } from './bulk-options.js'
import type { OperationHandle, Operations } from './operations.js'
import { checkIdempotencyKey, requestHash } from './request-hash.js'

/** Beside what every request has. */
type Reach = Pick<BulkRequest, 'anywhere'>

/** What an action by id answers where it was done, and the states it takes jobs from. */
interface Ends {
  readonly state: JobState | 'gone'
  readonly accepting: readonly JobState[]
}

/** Actions on many jobs, or on one as on many: as an operation, or at once. */
export class BulkActs {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
    private readonly maxPayloadBytes: number,
    private readonly operations: Operations,
  ) {}

  /** @param path - Under which the request's idempotency key is kept. */
  async start(
    path: string,
    action: BulkAction,
    selector: Selector,
    options: BulkRetryOptions,
  ): Promise<OperationHandle> {
    const request = toBulkRequest(action, selector, options, this.maxPayloadBytes)
    const act = actOf(this.actor, options)
    const id = await this.once(path, selector, options, act, (store) =>
      store.startOperation(request, act).then((operation) => operation.id),
    )
    return this.operations.handle(await this.begun(id))
  }

  /** At most 1,000 now. @throws `selector_refused` for more, or none; `invalid_option` for what only an operation can. */
  async act(
    path: string,
    action: BulkAction,
    ids: readonly string[],
    options: BulkRetryOptions,
    reach: Reach = {},
  ): Promise<BulkResult> {
    if (ids.length > MAX_AT_ONCE) {
      const instead = reach.anywhere ? 'name them in parts' : `${action}Many({ ids }) takes more`
      throw new SpillwayError(
        'selector_refused',
        `cannot ${action} ${ids.length} jobs at once: at most ${MAX_AT_ONCE} are; ${instead}`,
      )
    }
    if (options.dryRun) {
      throw new SpillwayError(
        'invalid_option',
        `cannot ${action} named jobs at once as a dry run; ${action}Many({ ids }, { dryRun: true }) looks and changes nothing`,
      )
    }
    const request = { ...toBulkRequest(action, { ids }, options, this.maxPayloadBytes), ...reach }
    const act = actOf(this.actor, options)
    const { operation, ...result } = await this.once(path, ids, options, act, async (store) => {
      const { operation, ...rest } = await store.actOnIds(ids, request, act)
      return { ...rest, operation: operation.id }
    })
    return { ...result, operation: await this.begun(operation) }
  }

  /** One now; refused, it leaves nothing. @throws `not_found`, `invalid_state`, `job_moving` */
  async one(
    action: BulkAction,
    id: string,
    { state, accepting }: Ends,
    options: ActOptions,
    reach: Reach = {},
  ): Promise<Acted> {
    const request = { ...toBulkRequest(action, { ids: [checkJobId(id)] }, options, this.maxPayloadBytes), ...reach }
    const answer = await this.store.actOnOne(id, request, actOf(this.actor, options))
    if ('operation' in answer) return { id, state, changed: true, operation: answer.operation }
    const found = await this.store.getJob(id)
    if (found === undefined) {
      throw new SpillwayError('not_found', `cannot find job ${id}: it is in no state any more, or never was`)
    }
    if (!accepting.includes(found.state)) throw new InvalidStateError(id, found.state, action, accepting)
    throw new SpillwayError(
      'job_moving',
      `cannot ${action} job ${id}: it moved meanwhile (${answer.refused}); try again`,
    )
  }

  /** Does it, or, where the request has a name under which it was done already, repeats the answer. */
  private async once<T>(
    path: string,
    target: unknown,
    options: BulkRetryOptions,
    { actor }: Act,
    work: (store: StoreInTransaction) => Promise<T>,
  ): Promise<T> {
    const { idempotencyKey, actor: _, reason: __, requestId: ___, ...asked } = options
    if (idempotencyKey === undefined) return work(this.store)
    const key = checkIdempotencyKey(idempotencyKey)
    // What was asked for, not what it came to: a delay is another time with every call.
    const request = { actor, method: 'SDK', path, key, requestHash: requestHash([target, asked]) }
    const { answer } = await this.store.idempotent(request, async (store) => ({
      status: 200,
      answer: JSON.stringify(await work(store)),
    }))
    return JSON.parse(answer) as T
  }

  private async begun(id: string): Promise<Operation> {
    const operation = await this.store.getOperation(id)
    if (operation) return operation
    throw new SpillwayError(
      'operation_not_found',
      `cannot find operation ${id}, which this request began: it was removed`,
    )
  }
}

/** Jobs that are acted upon before the call answers. */
const MAX_AT_ONCE = 1_000
