import pg from 'pg'
import { expect, it } from 'vitest'
import { claimQueries } from '../../src/store/postgres/queries/claim.js'
import { settleQueries } from '../../src/store/postgres/queries/settle.js'
import { suspectQueries } from '../../src/store/postgres/queries/suspects.js'
import { describeStore } from '../support/store.js'

const schema = 'spillway'
const [claim, claimOthers] = [claimQueries(schema).claim, claimQueries(schema).claimOthers]
const [settle] = settleQueries(schema).bySlot

/** What workers run on a slot, again and again, by a plan that is as old as their connection. */
const HOT: [name: string, text: string][] = [
  ['a claim', claim[0]!.text],
  ['a claim past suspects', claimOthers[0]!.text],
  ['a claim of a suspect', suspectQueries(schema).claim[0]!.text],
  ...Object.entries(settle!).map(([name, { text }]): [string, string] => [`the end of an attempt: ${name}`, text]),
]

const WHOLE_SLOT = /Seq Scan on (ready|leases)_\d/

describeStore('slots', ({ given, db, url }) => {
  async function planOf(text: string, how = 'generic_plan', before = 'select 1'): Promise<string> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(before)
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (${how}) ${text}`)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    } finally {
      await client.end()
    }
  }

  // A reader may keep the dead rows of a slot for hours, and the plan stays.
  it.each(HOT)('are never read whole by %s, planned while they are empty', async (_, text) => {
    expect(await planOf(text)).not.toMatch(WHOLE_SLOT)
  })

  it.each(HOT)('are never read whole by %s, planned when they are full', async (_, text) => {
    await given.jobs(5_000)

    expect(await planOf(text)).not.toMatch(WHOLE_SLOT)
  })

  it.each(HOT)('are never read whole by %s, planned when they hold dead rows alone', async (_, text) => {
    await given.jobs(5_000)
    await db.transaction((tx) => tx.execute('delete from spillway.ready_entries'))

    expect(await planOf(text)).not.toMatch(WHOLE_SLOT)
  })

  it('hand a claim its rows in one pass, however many there are', async () => {
    await given.jobs(2_000)
    const prepare = `set plan_cache_mode = force_generic_plan;
      prepare claim (text, smallint, bigint, integer, text[], bigint, integer, text[]) as ${claim[0]!.text}`

    const plan = await planOf(`execute claim ('default', 50, 0, 500, '{test}', 1, 1, '{test@1}')`, 'analyze', prepare)

    expect(plan).toMatch(/CTE Scan on picked p\s+\(.*rows=500/)
    const walks = plan.split('\n').filter((line) => /Aggregate|CTE Scan on (picked|spots)/.test(line))
    expect(walks.filter((line) => !line.includes('loops=1)'))).toEqual([])
  })
})
