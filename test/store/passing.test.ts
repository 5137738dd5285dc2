import { expect, it } from 'vitest'
import { Database, type DatabaseOptions, type RunOptions } from '../../src/store/postgres/database.js'
import { Notifier } from '../../src/store/postgres/notifier.js'
import { claimQueries } from '../../src/store/postgres/queries/claim.js'
import { enqueueQueries } from '../../src/store/postgres/queries/enqueue.js'
import { running } from '../../src/store/postgres/running.js'
import { type Statement, sql } from '../../src/store/postgres/sql.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { someoneWaits } from '../support/waits.js'
import { workerInfo } from '../support/worker-info.js'

/** Rows that the worker does not serve, before those that it does; the case itself speaks of 100,000. */
const AT_THE_HEAD = process.env['SPILLWAY_EFFORT'] === undefined ? 10_000 : 100_000

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** A database that runs each claim a second time before, undone, to count the rows it looks at. */
class Counting extends Database {
  constructor(
    private readonly own: DatabaseOptions,
    private readonly claims: ReadonlySet<string>,
    private readonly looked: { rows: number },
  ) {
    super(own)
  }

  override lane(max: number): Database {
    return new Counting({ ...this.own, max }, this.claims, this.looked)
  }

  override async run<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
    options?: RunOptions,
  ): Promise<Row[]> {
    if (this.claims.has(statement.name)) this.looked.rows += await this.rowsOf(statement, params)
    return super.run(statement, params, options)
  }

  private async rowsOf<Params extends readonly unknown[]>({ name, text }: Statement<Params>, params: Params) {
    const explained: Statement<Params, [string]> = {
      name: `${name}_explained`,
      text: `explain (analyze, format json) ${text}`,
    }
    let rows = 0
    const undo = new Error('only looked')
    await this.transaction(async (tx) => {
      const [row] = await tx.run(explained, params)
      rows = visited((JSON.parse(row?.[0] ?? '[]') as { Plan: Plan }[])[0]?.Plan)
      throw undo
    }).catch((error: unknown) => {
      if ((error as Error).cause !== undo) throw error
    })
    return rows
  }
}

/** Rows that the scans of a plan along an index have met, those included that they left. */
function visited(plan: Plan | undefined): number {
  if (!plan) return 0
  const own = /^(Index|Seq) Scan$/.test(plan['Node Type'])
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0
  return own + (plan.Plans ?? []).reduce((sum, child) => sum + visited(child), 0)
}

describeStore('rows that a worker does not serve, before those that it does', ({ store, given, db, url, schema }) => {
  const claims = claimQueries(schema)

  /** A session that counts the rows its claims look at. */
  const counting = async () => {
    const looked = { rows: 0 }
    const own = { url, max: 2, prepare: true } as const
    const counted = new Counting(own, new Set(claims.claim.map(({ name }) => name)), looked)
    const notifier = new Notifier(db, schema, enqueueQueries(schema), () => undefined)
    const workers = running(counted, schema, notifier, store.preparePartitions, async () => undefined)
    const session = await workers.register(workerInfo())
    const close = async () => {
      await session.close()
      await notifier.close()
      await counted.close()
    }
    return { session, looked, close }
  }

  it.each([
    ['others serve', 1],
    ['nobody serves', 0],
  ])(
    'are walked over once, however often the queue is looked at, where %s them',
    async (_, others) => {
      await given.jobs(AT_THE_HEAD, { version: 2 })
      await given.jobs(500)
      if (others > 0) await given.worker({ kinds: ['test@2'] })
      const { session, looked, close } = await counting()
      let claimed = 0

      for (let round = 0; round < 5; round++) {
        // A pulse looks at the queue from its beginning.
        await session.pulse()
        claimed += (await session.claim('default', 100)).length
      }
      await close()

      expect(claimed).toBe(500)
      expect(looked.rows).toBeGreaterThanOrEqual(AT_THE_HEAD)
      expect(looked.rows).toBeLessThan(AT_THE_HEAD + 2 * 500)
    },
    180_000,
  )

  it('keep no claim waiting while they are set aside', async () => {
    await given.jobs(1_000, { version: 2 })
    await given.jobs(2)
    const session = await store.register(workerInfo())

    await db.transaction(async (tx) => {
      await tx.execute('lock table spillway.unserved_kinds')
      const first = await session.claim('default', 1)
      await someoneWaits(url)
      const second = await session.claim('default', 1)

      expect([first.length, second.length]).toEqual([1, 1])
    })
    await session.close()
  })

  it('hide no job that came to stand among them late', async () => {
    await given.jobs(5, { version: 2 })
    const session = await store.register(workerInfo())
    const enqueue = sql<[], [string]>`select spillway.enqueue('test', '{}')`

    const late = await db.transaction(async (tx) => {
      const [row] = await tx.run(enqueue, [])
      await given.jobs(5, { version: 2 })
      const [behind] = await given.jobs(1)
      expect((await session.claim('default', 10)).map(({ id }) => id)).toEqual([behind])
      return row?.[0]
    })
    const claimed = await until(async () => {
      await session.pulse()
      const jobs = await session.claim('default', 10)
      return jobs.length > 0 && jobs
    })

    expect(claimed.map(({ id }) => id)).toEqual([late])
    await session.close()
  })

  it('are claimed when they are served again: a kind that rested', async () => {
    const resting = await given.jobs(5)
    const [other] = await given.jobs(1, { kind: 'other' })
    const serves = ['test', 'other'].map((kind) => ({ kind, version: 1 }))
    const session = await store.register(workerInfo({ serves }))

    const meanwhile = await session.claim('default', 10, new Set(['test']))
    await session.pulse()
    const after = await session.claim('default', 10)

    expect(meanwhile.map(({ id }) => id)).toEqual([other])
    expect(after.map(({ id }) => id)).toEqual(resting)
    await session.close()
  })

  it('are looked through by their index', async () => {
    await given.jobs(2_000, { version: 2 })
    const [statement] = claims.passed
    const params = ['default', 50, '0', '9000000000000000000', ['test'], 1, ['test@1']] as const
    const explain = { name: 'passed_explained', text: `explain ${statement?.text}` }

    const plan = (await db.run<typeof params, [string]>(explain, params)).map(([line]) => line).join('\n')

    expect(plan).toContain('ready_0_claim')
    expect(plan).not.toContain('Sort')
  })
})
