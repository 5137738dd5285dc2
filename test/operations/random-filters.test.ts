import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Selector } from '../../src/job/selector.js'
import { sql } from '../../src/store/postgres/sql.js'
import { effort } from '../support/effort.js'
import { describeStore } from '../support/store.js'
import { act, carryOut, deadIds, stepUntil } from './bulk-work.js'

const ROWS = 400
const DAY = Date.parse('2026-01-01T00:00:00.000Z')
const HOUR = 3_600_000

/** What has gone wrong when texts were pasted into SQL, patterns or arrays. */
const texts = fc.constantFrom(
  'a',
  'A',
  "o'brien",
  '100%',
  'a_b',
  'axb',
  'back\\slash',
  '{"x"}',
  'ünï 漢字',
  '--',
  '$1',
  'null',
)
const hours = fc.integer({ min: 0, max: 20 }).map((hour) => new Date(DAY + hour * HOUR))

const seeds = fc.record({
  queue: texts,
  kind: texts,
  dlqReason: texts,
  cause: texts,
  tags: fc.option(fc.uniqueArray(texts, { maxLength: 3 })),
  errorClass: fc.option(texts),
  errorMessage: fc.option(fc.tuple(texts, texts).map((parts) => parts.join(' '))),
  dlqAt: hours,
})

const one = fc.record(
  {
    queue: texts,
    kind: texts,
    reason: texts,
    cause: texts,
    tag: texts,
    error: texts,
    since: hours,
    until: hours,
    state: fc.constant('archived' as const),
    all: fc.boolean(),
  },
  { requiredKeys: [] },
)

describeStore(
  'any filters together',
  ({ store, given, db, checker }) => {
    let ids: readonly string[] = []

    beforeAll(async () => {
      for (const seed of fc.sample(seeds, { numRuns: ROWS, seed: 7 }))
        await given.jobs(1, { ...seed, state: 'archived' })
      ids = (await db.run(deadIds, [])).map(([id]) => id)
    }, 120_000)

    /** Named ids among others, as places in the list: shrinking shows which. */
    const withIds = fc
      .tuple(one, fc.option(fc.uniqueArray(fc.integer({ min: 0, max: ROWS + 20 }), { minLength: 1, maxLength: 200 })))
      .map(([filter, places]) => ({ filter, places }))

    it(`mean the same to a dry run, to what moves, and to SQL written by hand: ${effort.filters} of them`, async () => {
      await fc.assert(
        fc.asyncProperty(withIds, async ({ filter, places }) => {
          const named = places?.map((place) => ids[place] ?? String(9_000_000_000 + place))
          const selector: Selector = { ...filter, ...(named && { ids: named }) }
          fc.pre(isEnough(selector))
          const expected = (await db.run(oracle, oracleParams(selector))).map(([id]) => id)

          const dry = await carryOut(store, { action: 'discard', selector, dryRun: true })
          const done = await carryOut(store, { action: 'discard', selector })
          const moved = (await db.run(binned, [done.id])).map(([id]) => id)
          const undo = await store.undoOperation(done.id, act)
          await stepUntil(store, undo.id, 'me', ({ state }) => state !== 'running')

          expect(moved).toEqual(expected)
          expect([dry.matched, dry.preview?.lookedAt, done.succeeded]).toEqual(Array(3).fill(expected.length))
          expect(done.succeeded + done.failed).toBe(done.matched)
        }),
        { numRuns: effort.filters },
      )
      expect(await db.run(deadIds, [])).toHaveLength(ROWS)
      await checker.expectClean()
    }, 600_000)
  },
  { rows: 'kept' },
)

/** What a selector has to name at least. */
function isEnough({ state: _, error: __, all, ...named }: Selector): boolean {
  return all === true || Object.keys(named).length > 0
}

function oracleParams({ queue, kind, reason, cause, tag, error, since, until, ids }: Selector): OracleParams {
  const text = (value: string | undefined) => value ?? null
  const time = (value: Date | undefined) => value?.toISOString() ?? null
  const at = [time(since), time(until)] as const
  return [text(queue), text(kind), text(reason), text(cause), text(tag), text(error), ...at, ids ?? null]
}

type OracleParams = [
  queue: string | null,
  kind: string | null,
  reason: string | null,
  cause: string | null,
  tag: string | null,
  error: string | null,
  since: string | null,
  until: string | null,
  ids: readonly string[] | null,
]

const oracle = sql<OracleParams, [id: string]>`
  select id
    from spillway.dlq_entries
   where ($1::text is null or queue = $1)
     and ($2::text is null or kind = $2)
     and ($3::text is null or dlq_reason = $3)
     and ($4::text is null or cause = $4)
     and ($5::text is null or exists (select from unnest(tags) as tag where tag = $5))
     and ($6::text is null or strpos(lower(error_message), lower($6)) > 0 or strpos(lower(error_class), lower($6)) > 0)
     and ($7::timestamptz is null or dlq_at >= $7)
     and ($8::timestamptz is null or dlq_at < $8)
     and ($9::bigint[] is null or id = any ($9::bigint[]))
   order by id`

const binned = sql<[operation: string], [id: string]>`
  select id from spillway.dlq_bin where discard_operation = $1::bigint order by id`
