import { SpillwayError } from '../../job/errors.js'
import type { Idempotent, IdempotentRequest, Notice, StoredAnswer, StoreInTransaction } from '../store.js'
import { access } from './access.js'
import { answering } from './answering.js'
import { archiving } from './archiving.js'
import { bulk } from './bulk.js'
import { carrying } from './carrying.js'
import type { Database } from './database.js'
import { editing } from './editing.js'
import { eventing } from './eventing.js'
import { hooking } from './hooking.js'
import { inspecting } from './inspecting.js'
import type { Notifier } from './notifier.js'
import { operating } from './operating.js'
import { overseeing } from './overseeing.js'
import { producing } from './producing.js'
import { quarantining } from './quarantining.js'
import { idempotencyQueries, type KeptRow } from './queries/idempotency.js'
import { serving } from './serving.js'
import { TransactionLane } from './transaction-lane.js'
import { triaging } from './triaging.js'
import { undecodables } from './undecodables.js'

/** How long a request waits for another one under the same key. */
const WAIT_MS = 2_000
const LOOK_MS = 50

/** Requests that may be sent again, on PostgreSQL: the effect, the answer and the key are one transaction. */
export function idempotent(db: Database, schema: string, notifier: Pick<Notifier, 'tell'>): Idempotent {
  const queries = idempotencyQueries(schema)

  /** Undefined: somebody else is at it. */
  async function act(
    request: IdempotentRequest,
    work: (store: StoreInTransaction) => Promise<StoredAnswer>,
  ): Promise<(StoredAnswer & { replayed: boolean }) | undefined> {
    const { actor, method, path, key, requestHash } = request
    const notices: Notice[] = []
    const answer = await db.transaction(async (tx) => {
      notices.length = 0
      const [lock] = await tx.run(queries.take, [[schema, actor, method, path, key].join('\x1f')])
      if (lock?.[0] !== 't') return undefined
      // It may have been answered between the look and the lock.
      const [kept] = await tx.run(queries.kept, [actor, method, path, key])
      if (kept) return replayOf(kept, request)

      const stored = await work(within(new TransactionLane(tx), { tell: (notice) => notices.push(notice) }))
      await tx.run(queries.keep, [actor, method, path, key, requestHash, stored.status, stored.answer])
      return { ...stored, replayed: false }
    })
    for (const notice of notices) notifier.tell(notice)
    return answer
  }

  function within(lane: TransactionLane, told: Pick<Notifier, 'tell'>): StoreInTransaction {
    const inspection = inspecting(lane, schema)
    const { enqueue } = producing(lane, schema, told)
    const { eventHead, setEventRetention } = eventing(lane, schema)
    return {
      enqueue,
      eventHead,
      setEventRetention,
      ...inspection,
      ...operating(lane, schema),
      ...editing(lane, schema),
      ...bulk(lane, schema),
      ...carrying(lane, schema, inspection),
      ...answering(lane, schema),
      ...undecodables(lane, schema),
      ...quarantining(lane, schema),
      ...triaging(lane, schema),
      ...archiving(lane, schema),
      ...overseeing(lane, schema),
      ...access(lane, schema),
      // A question to workers is no effect, and nobody would hear of it before the commit.
      ...serving(db, schema),
      ...hooking(lane, schema),
    }
  }

  return {
    async idempotent(request, work) {
      const { actor, method, path, key } = request
      const until = performance.now() + WAIT_MS
      for (;;) {
        const [kept] = await db.run(queries.kept, [actor, method, path, key], { repeatable: true })
        const answer = kept ? replayOf(kept, request) : await act(request, work)
        if (answer) return answer
        if (performance.now() > until) {
          throw new SpillwayError(
            'idempotency_in_progress',
            `cannot answer the request with key ${shownKey(key)} yet: the first one is still running; ask again later`,
          )
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
    },
  }
}

function replayOf(
  [requestHash, status, answer]: KeptRow,
  request: IdempotentRequest,
): StoredAnswer & { replayed: true } {
  if (requestHash === request.requestHash) return { status: Number(status), answer, replayed: true }
  throw new SpillwayError(
    'idempotency_key_reused',
    `cannot use key ${shownKey(request.key)} for this request: it came with another one; a new request needs a new key`,
  )
}

function shownKey(key: string): string {
  return JSON.stringify(key.slice(0, 60))
}
