import { expect, it } from 'vitest'
import { openapi, type RouteName } from '../../src/http/index.js'
import { isolateQueries } from '../../src/store/postgres/queries/isolate.js'
import { describeStore } from '../support/store.js'
import { type Answer, type Api, apiOn, KNOWN } from './api.js'
import {
  Dice,
  FITTING,
  type Operation,
  operationsOf,
  type Pool,
  Requests,
  type Shot,
  someJobs,
} from './random-requests.js'
import { SAMPLES } from './samples.js'

/** `npm run fuzz` sends 20,000; so many are enough to see that nothing has come loose. */
const REQUESTS = Number(process.env['SPILLWAY_FUZZ'] ?? 2_000)
const SEED = Number(process.env['SPILLWAY_SEED'] ?? 20_260_101)
/** After so many requests everything begins anew. */
const ROUND = 150
const HANGS_MS = 20_000
const LEAST_ACCEPTED = REQUESTS >= 20_000 ? 50 : 1

/** Everything there is, as one line: what a refused request must not change. */
const EVERYTHING = `
  select string_agg(found.name || found.n || found.hash, ' ' order by found.name)
    from (${[
      ...['ready_entries', 'deferred_jobs', 'leases', 'waiting_jobs', 'terminal_entries', 'dlq_entries', 'dlq_bin'],
      ...[
        'held_entries',
        'queues',
        'operations',
        'operation_rows',
        'idempotency_keys',
        'payload_versions',
        'unique_keys',
      ],
      ...['api_tokens', 'masked_paths', 'counters', 'audit_log', 'aborts', 'webhooks', 'deliveries', 'callbacks'],
      ...['api_sessions', 'dlq_triage', 'cause_triage', 'cold_archive', 'duties', 'ring_state'],
    ]
      .map(
        (name) =>
          `select '${name}' as name, count(*) as n, coalesce(sum(hashtextextended(t::text, 0)), 0) as hash from spillway.${name} t`,
      )
      .join(' union all ')}) as found`

describeStore(
  'requests made of our own document',
  ({ store, given, db }) => {
    const errors: unknown[] = []
    const api = apiOn(store, { access: KNOWN, onError: (error) => errors.push(error) })
    const document = openapi('0.0.0')
    const operations = operationsOf(document)
    const dice = new Dice(SEED)
    const requests = new Requests(document, dice)
    const { empty } = isolateQueries('spillway')
    const everything = async () =>
      String(((await db.run({ name: 'everything', text: EVERYTHING }, [])) as string[][])[0]?.[0])

    it(
      `are answered ${REQUESTS} times without a fault, a hang, or a change by one that was refused`,
      async () => {
        const accepted = new Map<string, number>(operations.map(({ id }) => [id, 0]))
        let pool: Pool = {}
        let before = ''
        for (let n = 0; n < REQUESTS; n++) {
          if (n % ROUND === 0) {
            await db.run(empty, [])
            pool = await someOfEverything()
            before = await everything()
          }
          const operation = operations[n % operations.length] as Operation
          const { shot, sampled } = await next(operation, pool)
          if (sampled) before = await everything()

          const answer = await answered(api, shot, n)

          const told = `seed ${SEED}, request ${n}: ${JSON.stringify(shot).slice(0, 2_000)} → ${answer.status} ${answer.text.slice(0, 500)} ${errors.map(String).join()}`
          expect(answer.status, told).toBeLessThan(500)
          const now = await everything()
          if (answer.status >= 400) {
            // Who is not let in is written down, and nothing else happens.
            const kept = (all: string) => (operation.id === 'signIn' ? all.replace(/audit_log\S+/, '') : all)
            expect(kept(now), `changed by a refused request: ${told}`).toBe(kept(before))
            expect(answer.headers.get('content-type'), told).toBe('application/problem+json')
            expect(answer.body, told).toMatchObject({
              status: answer.status,
              code: expect.any(String),
              detail: expect.any(String),
            })
          } else {
            accepted.set(operation.id, (accepted.get(operation.id) ?? 0) + 1)
            if (typeof answer.body?.cursor === 'string')
              pool = { ...pool, cursor: [...(pool['cursor'] ?? []), answer.body.cursor].slice(-20) }
          }
          before = now
        }

        const few = [...accepted].filter(([, count]) => count < LEAST_ACCEPTED)
        expect(few, 'operations that were hardly ever accepted').toEqual([])
      },
      REQUESTS * 300 + 60_000,
    )

    /** Mostly from the document; a third is a request that is known to be good, so that every operation is reached. */
    async function next(operation: Operation, pool: Pool): Promise<{ shot: Shot; sampled: boolean }> {
      const fitting = FITTING[operation.id] ?? Object.keys(pool)
      const toss = dice.next()
      if (toss < 0.4) return { shot: requests.spoilt(operation, pool, fitting), sampled: false }
      if (toss < 0.65 && !operation.isLines) return { shot: requests.allowed(operation, pool, fitting), sampled: false }
      const { line, body } = await SAMPLES[operation.id as RouteName]({ given, api, db })
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
      const headers = {
        'idempotency-key': `s${dice.below(1e9)}`,
        ...(text === undefined ? {} : { 'content-type': type }),
      }
      return { shot: { line, body: text, headers, spoiled: undefined }, sampled: true }
    }

    /** Some jobs in the cold archive. */
    async function archived(): Promise<readonly string[]> {
      await api.client.queues.set('cold', { coldArchive: true })
      const old = new Date(Date.now() - 31 * 86_400_000)
      const ids = await given.jobs(6, { state: 'archived', queue: 'cold', dlqAt: old, retainFrom: old })
      await store.retain(1_000)
      return ids
    }

    async function someOfEverything(): Promise<Pool> {
      const jobs = await someJobs(given, 6)
      // Workers without a process would be asked about held payloads, and waited for.
      await db.run({ name: 'serving nothing', text: `update spillway.workers set kinds = '{}'` }, [])
      const begin = async () => (await api.client.dlq.discardMany({ queue: 'q', kind: 'none' }, {})).id
      const [running, paused, done] = [
        [await begin(), await begin()],
        [await begin(), await begin()],
        [await begin(), await begin()],
      ]
      for (const id of paused) await api.client.operations.pause(id)
      for (const id of done) await api.client.operations.run(id)
      const tokens = [await api.client.tokens.create({ name: 'a' }), await api.client.tokens.create({ name: 'b' })]
      await api.client.masking.add('a.b')
      const cold = await archived()
      const webhook = await api.client.webhooks.create({ url: 'https://93.184.216.34/x' })
      return {
        ...jobs,
        // Ids of jobs and of operations are different numbers; some are tried in each other's place.
        ...{
          operation: [...running, ...paused, ...done],
          paused,
          done,
          running: [...(jobs['running'] ?? []), ...running],
        },
        token: tokens.map(({ id }) => id),
        secret: tokens.map(({ secret }) => secret),
        cold,
        cause: ['cause-of-test'],
        duty: ['retain', 'promote', 'none'],
        ring: ['ready', 'leases', 'none'],
        path: ['a.b', 'a.b', 'c'],
        webhook: [webhook.id],
        delivery: [(await api.client.webhooks.test(webhook.id)).id],
        token_of_callback: ['secret'],
      }
    }
  },
  { checked: false },
)

/** Each from an address of its own: wrong tokens make an address wait. */
async function answered(api: Api, { line, body, headers }: Shot, n: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${line} within ${HANGS_MS} ms`)), HANGS_MS)
  })
  const hasBody = !/^(GET|HEAD) /.test(line)
  try {
    return await Promise.race([
      hang,
      api(line, { headers, address: `address ${n}`, ...(body !== undefined && hasBody ? { body } : {}) }),
    ])
  } finally {
    clearTimeout(timer)
  }
}
