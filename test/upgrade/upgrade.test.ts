import { Spillway } from 'spillway'
import { onePlace } from 'spillway/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Database } from '../../src/store/postgres/database.js'
import { migrationScript, migrations } from '../../src/store/postgres/migrate.js'
import { migrationQueries } from '../../src/store/postgres/queries/migrations.js'
import { commandLine } from '../cli/spillway.js'
import { emptyDatabase } from '../support/database.js'
import { until } from '../support/patience.js'
import { onServer } from '../support/server.js'
import { someoneWaits } from '../support/waits.js'
import { OldWorker } from './old-worker.js'

const SCHEMA = 'spillway'
const steps = await migrations(SCHEMA)
const latest = steps.at(-1)!.version

/** The schema as a program of that version made it. */
async function makeSchema(url: string, version: number): Promise<void> {
  const { create, record } = migrationQueries(SCHEMA)
  await onServer(url, async (client) => {
    await client.query(create.text)
    for (const step of steps.filter((it) => it.version <= version)) {
      await client.query('begin')
      await client.query(step.text)
      await client.query(record(step.version, step.name).text)
      await client.query('commit')
    }
  })
}

async function enqueueBySql(url: string, count: number): Promise<string[]> {
  const { rows } = await onServer(url, (client) =>
    client.query<{ id: string }>(
      `select spillway.enqueue('act', '{}', queue => 'q')::text as id from generate_series(1, $1)`,
      [count],
    ),
  )
  return rows.map(({ id }) => id)
}

function opened(url: string): Spillway {
  const spillway = new Spillway({ url })
  onTestFinished(() => spillway.close())
  return spillway
}

describe.each(steps.filter(({ version }) => version >= 4 && version < latest))(
  'a schema at version $version',
  ({ version }) => {
    const { url } = emptyDatabase()

    it('is migrated while workers of version 4 run jobs: none is lost, none runs twice, nobody fails', async () => {
      await makeSchema(url, version)
      const before = await enqueueBySql(url, 150)
      const workers = [new OldWorker(url, 4), new OldWorker(url, 4)]
      for (const worker of workers) await worker.start()
      const spillway = opened(url)
      const db = new Database({ url, max: 2, prepare: true })
      onTestFinished(() => db.close())
      await until(() => workers.some(({ settled }) => settled.length > 20))

      const { applied, version: now } = await spillway.migrate()
      const after = await enqueueBySql(url, 150)
      const ids = [...before, ...after]
      await until(
        () => workers.reduce((sum, { settled, trouble }) => sum + settled.length + trouble.length * 1e6, 0) >= 300,
      )
      for (const worker of workers) await worker.stop()

      const died = ids.filter((id) => Number(id) % 3 === 0).length
      expect(workers.flatMap(({ trouble }) => trouble)).toEqual([])
      expect(now).toBe(latest)
      expect(applied).toEqual(steps.filter((it) => it.version > version).map(({ name }) => name))
      expect(await onePlace(db, SCHEMA).census()).toEqual({ completed: 300 - died, archived: died })
      await onePlace(db, SCHEMA).expectExactly(ids)
    })
  },
)

describe('a migration', () => {
  const { url } = emptyDatabase()

  it('that a long transaction is in the way of keeps nobody waiting for longer than 2 s, and goes on after it', async () => {
    await makeSchema(url, 4)
    const spillway = opened(url)
    const [migrated, waitedMs] = await onServer(url, async (long) => {
      await long.query('begin')
      await long.query(
        `insert into spillway.counters (queue, kind, reason, what, n) values ('q', 'act', 'skipped', 'failed', 1)`,
      )
      const migrating = spillway.migrate()
      await someoneWaits(url)

      const startedAt = performance.now()
      await onServer(url, (worker) =>
        worker.query(
          `insert into spillway.counters (queue, kind, reason, what, n) values ('q', 'act', 'skipped', 'failed', 1)`,
        ),
      )
      const waited = performance.now() - startedAt
      await long.query('commit')
      return [await migrating, waited] as const
    })

    expect(waitedMs).toBeLessThan(4_000)
    expect(migrated.version).toBe(latest)
  })
})

describe('what a DBA runs by hand', () => {
  const byHand = emptyDatabase()
  const byItself = emptyDatabase()

  it('is what is pending, and makes the same schema', async () => {
    await makeSchema(byHand.url, 4)
    const script = (await commandLine(byHand.url)('migrate', '--sql')).stdout
    await onServer(byHand.url, (client) => client.query(script))
    await opened(byItself.url).migrate()

    const again = await commandLine(byHand.url)('migrate', '--sql')
    const status = await commandLine(byHand.url).json('migrate', '--status')

    expect(script).toContain('-- 0010_roles')
    expect(script).not.toContain('-- 0001_planes')
    expect(again.stdout).toBe('-- schema "spillway" is up to date\n')
    expect(status.document).toMatchObject({ version: latest, latest, pending: [] })
    expect(await shapeOf(byHand.url)).toEqual(await shapeOf(byItself.url))
  })

  it('is the whole schema where there is none', async () => {
    expect(await migrationScript(SCHEMA)).toContain('-- 0001_planes')
    expect(await migrationScript(SCHEMA)).toContain('-- 0010_roles')
  })
})

describe('a schema that a newer program has made', () => {
  const { url } = emptyDatabase()

  it('is refused by every way in, with a sentence that says what to do, and stays as it is', async () => {
    const spillway = opened(url)
    await spillway.migrate()
    await onServer(url, (client) =>
      client.query(`insert into spillway.migrations (version, name) values (9999, '9999_later')`),
    )
    const says = {
      code: 'schema_newer',
      message: `schema "spillway" is at version 9999, and this program knows ${latest}: update spillway here before using it`,
    }

    await expect(spillway.migrate()).rejects.toMatchObject(says)
    await expect(spillway.requireSchema()).rejects.toMatchObject(says)
    for (const words of [['migrate'], ['migrate', '--sql'], ['jobs', 'counts'], ['queues', 'list']]) {
      expect(await commandLine(url).json(...words), words.join(' ')).toMatchObject({
        code: 1,
        document: { error: says },
      })
    }
    expect((await spillway.doctor()).findings).toContainEqual(
      expect.objectContaining({ code: 'schema_newer', severity: 'error' }),
    )
  })
})

/** Every column, index and function of the schema. */
async function shapeOf(url: string): Promise<unknown> {
  return onServer(url, async (client) => {
    const columns = await client.query(
      `select table_name, column_name, data_type, column_default, is_nullable from information_schema.columns
        where table_schema = 'spillway' order by 1, 2`,
    )
    const indexes = await client.query(
      `select indexname, indexdef from pg_indexes where schemaname = 'spillway' order by 1`,
    )
    const functions = await client.query(
      `select p.oid::regprocedure::text as name, md5(prosrc) as body, proacl::text from pg_proc p
        where pronamespace = 'spillway'::regnamespace order by 1`,
    )
    return { columns: columns.rows, indexes: indexes.rows, functions: functions.rows }
  })
}
