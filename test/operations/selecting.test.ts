import { beforeAll, expect, it } from 'vitest'
import { DeadLetters } from '../../src/client/dead-letters.js'
import { Operations } from '../../src/client/operations.js'
import type { Selector } from '../../src/job/selector.js'
import { sql } from '../../src/store/postgres/sql.js'
import { describeStore } from '../support/store.js'
import { act, carryOut, deadIds, request } from './bulk-work.js'

interface Seed {
  readonly queue: string
  readonly kind: string
  readonly dlqReason: string
  readonly cause: string
  readonly tags: string[] | null
  readonly errorClass: string | null
  readonly errorMessage: string | null
  readonly dlqAt: Date
}

/** What has gone wrong when texts were pasted into SQL or patterns. */
const TEXTS = ['a', "o'brien", '100%', 'a_b', 'axb', 'back\\slash', '{"x"}', 'ünï 漢字', '--', '$1'] as const
const DAY = Date.parse('2026-01-01T00:00:00.000Z')

function pick<T>(of: readonly T[], n: number): T {
  return of[n % of.length] as T
}

const SEEDS: readonly Seed[] = Array.from({ length: 120 }, (_, n) => ({
  queue: pick(TEXTS, n),
  kind: pick(TEXTS, n * 3 + 1),
  dlqReason: pick(['skipped', "it's", '50%', 'attempts_exhausted'], n >> 1),
  cause: pick(['c1', 'c2', "c'3"], n >> 2),
  tags: pick([null, [], ['a'], ['a', "o'brien"], ['100%', 'a_b'], ['back\\slash']], n),
  errorClass: pick([null, 'TypeError', 'Error'], n),
  errorMessage: pick([null, '100% of it', 'a_b', 'axb', 'back\\slash', "O'Brien"], n >> 1),
  dlqAt: new Date(DAY + (n % 17) * 3_600_000),
}))

const FILTERS: readonly Selector[] = [
  { all: true },
  { queue: 'a_b' },
  { queue: 'back\\slash' },
  { kind: "o'brien" },
  { kind: '100%' },
  { kind: 'ünï 漢字' },
  { reason: "it's" },
  { reason: '50%' },
  { cause: "c'3" },
  { tag: 'a' },
  { tag: '100%' },
  { tag: 'back\\slash' },
  { error: '100%' },
  { error: 'a_b' },
  { error: 'K\\S' },
  { error: "o'br" },
  { error: 'typeerr' },
  { since: new Date(DAY + 5 * 3_600_000) },
  { until: new Date(DAY + 5 * 3_600_000) },
]

/** The selector in JavaScript. */
function matches(seed: Seed, { queue, kind, reason, cause, tag, error, since, until }: Selector): boolean {
  const has = (text: string | null) => text?.toLowerCase().includes((error as string).toLowerCase()) ?? false
  return (
    (queue === undefined || seed.queue === queue) &&
    (kind === undefined || seed.kind === kind) &&
    (reason === undefined || seed.dlqReason === reason) &&
    (cause === undefined || seed.cause === cause) &&
    (tag === undefined || (seed.tags?.includes(tag) ?? false)) &&
    (error === undefined || has(seed.errorMessage) || has(seed.errorClass)) &&
    (since === undefined || seed.dlqAt >= since) &&
    (until === undefined || seed.dlqAt < until)
  )
}

const PAIRS = FILTERS.flatMap((first, n) => FILTERS.slice(n).map((second) => ({ ...first, ...second })))

describeStore(
  'what a selector is about',
  ({ store, given, db }) => {
    const byId = new Map<string, Seed>()

    beforeAll(async () => {
      for (const seed of SEEDS) {
        const [id] = await given.jobs(1, { state: 'archived', ...seed })
        byId.set(id as string, seed)
      }
    })

    const expected = (selector: Selector) => [...byId].filter(([, seed]) => matches(seed, selector)).map(([id]) => id)

    it('is counted by a dry run as a filter in JavaScript does, for every filter and every pair', async () => {
      const wrong: unknown[] = []

      for (const selector of PAIRS) {
        const { matched, preview } = await carryOut(store, { selector, dryRun: true })
        const count = expected(selector).length
        if (matched !== count || preview?.lookedAt !== count) wrong.push({ selector, matched, preview, count })
      }

      expect(PAIRS.length).toBeGreaterThan(150)
      expect(wrong).toEqual([])
      expect(await db.run(deadIds, [])).toHaveLength(SEEDS.length)
    })

    it('is what moves, and nothing else: there and back for every filter and a third of the pairs', async () => {
      const wrong: unknown[] = []

      for (const selector of [...FILTERS, ...PAIRS.filter((_, n) => n % 3 === 0)]) {
        const { id, succeeded, matched } = await carryOut(store, { action: 'discard', selector })
        const moved = (await db.run(binned, [id])).map(([each]) => each)
        const ids = expected(selector).sort((a, b) => Number(a) - Number(b))
        if (succeeded !== ids.length || matched !== ids.length || String(moved) !== String(ids)) {
          wrong.push({ selector, succeeded, matched, moved, ids })
        }
        const undo = await store.undoOperation(id, act)
        while ((await store.stepOperation(undo.id, 'me')).operation.state === 'running');
      }

      expect(wrong).toEqual([])
      expect(await db.run(deadIds, [])).toHaveLength(SEEDS.length)
    })

    it('is narrowed by ids and a filter together, dry or not', async () => {
      const ids = [...byId.keys()].slice(0, 40)
      const both = expected({ tag: 'a' }).filter((id) => ids.includes(id))

      const dry = await carryOut(store, { selector: { ids, tag: 'a' }, dryRun: true })
      const done = await carryOut(store, { action: 'discard', selector: { ids, tag: 'a' } })

      expect(dry).toMatchObject({ matched: both.length, preview: { lookedAt: both.length } })
      expect(done).toMatchObject({ matched: 40, succeeded: both.length, failed: 40 - both.length })
      expect((await db.run(binned, [done.id])).map(([id]) => id)).toEqual(both)
    })
  },
  { rows: 'kept' },
)

describeStore('a selector that names nothing', ({ store, given, db }) => {
  const dlq = new DeadLetters(store, 'ann', 1_000_000, new Operations(store, 'ann'))

  it.each([
    {},
    { ids: [] },
    { queue: '' },
    { queue: undefined },
    { quue: 'a' },
    { filter: {} },
    { state: 'archived' },
    { error: 'x' },
    { all: false },
    { queue: 'q', bogus: 1 },
    { kind: 7 },
    { since: 'yesterday' },
  ])('is refused, and nothing is touched: %j', async (selector) => {
    await given.jobs(3, { state: 'archived', queue: 'q' })
    const before = await db.run(operations, [])

    for (const many of [dlq.retryMany, dlq.discardMany, dlq.purgeMany, dlq.moveMany]) {
      await expect((async () => many.call(dlq, selector as Selector))()).rejects.toMatchObject({
        code: 'selector_refused',
      })
    }

    expect(await db.run(operations, [])).toEqual(before)
    expect(await db.run(deadIds, [])).toHaveLength(3)
  })

  it('answers at once and moves nothing by itself', async () => {
    await given.jobs(3, { state: 'archived' })

    const operation = await store.startOperation(request({ selector: { all: true } }), act)

    expect(operation).toMatchObject({ state: 'running', matched: 0, succeeded: 0, createdBy: 'ann' })
    expect(await db.run(deadIds, [])).toHaveLength(3)
  })
})

const binned = sql<[operation: string], [id: string]>`
  select id from spillway.dlq_bin where discard_operation = $1::bigint order by id`

const operations = sql<[], [n: string]>`select count(*) from spillway.operations`
