import { randomBytes } from 'node:crypto'
import { defineJob, Spillway, skip, snooze } from 'spillway'
import { factories, onePlace } from 'spillway/testing'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { Database } from '../../src/store/postgres/database.js'
import { rolesScript } from '../../src/store/postgres/roles.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { emptyDatabase, testDatabase } from '../support/database.js'
import { until } from '../support/patience.js'
import { onServer } from '../support/server.js'

const prefix = `sw_${randomBytes(4).toString('hex')}`
const ROLES = ['migrate', 'work', 'serve', 'read'] as const
type Role = (typeof ROLES)[number]

/** Roles are the server's, not a database's: they go after the databases that know them. */
afterAll(() =>
  onServer(inject('server').url, async (client) => {
    for (const role of ROLES) await client.query(`drop role if exists ${prefix}_${role}_login, ${prefix}_${role}`)
  }),
)

/** The script, and for each role somebody who logs in. */
async function makeRoles(url: string): Promise<void> {
  await onServer(url, async (client) => {
    await client.query(rolesScript('spillway', prefix))
    for (const role of ROLES) {
      const login = `${prefix}_${role}_login`
      const { rowCount } = await client.query('select from pg_roles where rolname = $1', [login])
      if (rowCount === 0) await client.query(`create role ${login} login password 'secret' in role ${prefix}_${role}`)
    }
    await client.query(`alter role ${prefix}_migrate_login set role = ${prefix}_migrate`)
  })
}

function as(url: string, role: Role): string {
  const changed = new URL(url)
  changed.username = `${prefix}_${role}_login`
  changed.password = 'secret'
  return changed.href
}

const job = defineJob<{ how: string }>({ kind: 'act', queue: 'billing', maxAttempts: 1 })
const handled = job.handle(async ({ how }, ctx) => {
  await ctx.progress({ how })
  if (how === 'fail') throw new Error('no')
  if (how === 'skip') return skip('no_such_user')
  if (how === 'snooze') return snooze('1h')
  return how
})

describe('least-privilege roles', () => {
  const { url } = testDatabase()
  const admin = new Database({ url, max: 4, prepare: true })
  const adminStore = postgresStore({ url })
  const given = factories(admin, 'spillway', adminStore)
  beforeAll(async () => {
    await makeRoles(url)
    // Run again, as after an upgrade, it changes nothing.
    await makeRoles(url)
  })
  afterAll(async () => {
    await adminStore.close()
    await admin.close()
  })
  const opened = (role: Role) => {
    const spillway = new Spillway({ url: as(url, role), actor: role })
    onTestFinished(() => spillway.close())
    return spillway
  }
  const denied = (text: string, role: Role) =>
    onServer(as(url, role), (client) =>
      client.query(text).then(
        () => 'done',
        (error: { code?: string }) => error.code,
      ),
    )

  it('let a worker run jobs to every end, and do the maintenance', async () => {
    const spillway = opened('work')
    const worker = spillway.worker({ queues: { billing: {} }, jobs: [handled] })
    const trouble: unknown[] = []
    worker.on('error', (event) => trouble.push(event))
    onTestFinished(() => worker.stop())
    await worker.start()
    const hows = ['work', 'fail', 'skip', 'snooze']

    for (const how of hows) await spillway.enqueue(job, { how }, { unique: how, tags: ['a'] } as never)
    await spillway.enqueue(job, { how: 'work' }, { delay: 200 })
    await until(async () => (await spillway.jobs.counts()).completed === 2)
    await worker.stop()

    expect(await onePlace(admin, 'spillway').census()).toMatchObject({ completed: 2, archived: 2, scheduled: 1 })
    expect(trouble).toEqual([])
  })

  it('let the worker keep caps and write the archive, and who serves triage, restore, prune and set limits', async () => {
    const store = postgresStore({ url: as(url, 'work') })
    onTestFinished(() => store.close())
    const spillway = opened('serve')
    const old = new Date(Date.now() - 60 * 86_400_000)
    await spillway.queues.set('capped', { dlqMaxRows: 1, coldArchive: true, keepUnreviewed: true })
    const [first = ''] = await given.jobs(2, { state: 'archived', queue: 'capped', dlqAt: old, retainFrom: old })

    const { evicted, dlq } = await store.retain(1_000)
    await spillway.archive.restore(first)
    await spillway.dlq.ack(first)
    await spillway.dlq.resolve({ queue: 'capped', cause: 'cause-of-test' })
    await spillway.duties.pause('retain')
    await spillway.duties.resume('retain')
    await spillway.rings.set('ready', { rotateRows: 20_000 })

    expect([evicted, dlq]).toEqual([1, 0])
    expect((await spillway.audit.list({ action: 'dlq_nearly_full' })).items).toHaveLength(1)
    await expect(spillway.archive.prune('2020-01')).rejects.toMatchObject({ code: 'not_found' })
    await spillway.dlq.purgeMany({ queue: 'capped' }).then((purge) => purge.done())
    await spillway.queues.set('capped', { dlqMaxRows: null })
  })

  it('let the worker do every duty, and drop partitions that it does not own', async () => {
    const store = postgresStore({ url: as(url, 'work') })
    onTestFinished(() => store.close())
    const old = new Date(Date.now() - 60 * 86_400_000)
    await given.job({ state: 'completed', finalizedAt: old })
    await given.job({ state: 'archived', retainFrom: old, dlqAt: old })
    await given.jobs(3, { deadline: new Date(0) })
    const maintenance = new Maintenance(store)
    const duties = ['promote', 'rescue', 'deadlines', 'rings', 'fold', 'retain', 'partitions', 'operations'] as const

    for (const duty of duties) await maintenance.runOnce(duty)
    await maintenance.stop()

    const left = await onServer(url, (client) =>
      client.query(`select relname from pg_class where relname like $1`, [
        `terminal%${old.toISOString().slice(0, 10).replaceAll('-', '')}`,
      ]),
    )
    expect(left.rows).toEqual([])
    await onePlace(admin, 'spillway').expectClean()
  })

  it('drop no partition in which a row is to be kept, whoever asks', async () => {
    await opened('serve').queues.set('cold', { coldArchive: true })
    const { id: young } = await given.job({ state: 'completed', finalizedAt: new Date() })
    const { id: cold } = await given.job({
      ...{ state: 'completed', queue: 'cold', finalizedAt: new Date(Date.now() - 50 * 86_400_000) },
    })

    const dropped = await onServer(as(url, 'work'), (client) =>
      client.query<{ dropped: boolean }>(
        `select spillway.drop_terminal_partition((select relname::text from pg_class where oid = t.tableoid)) as dropped
           from spillway.terminal_entries t where id = any ($1::bigint[])`,
        [[young, cold]],
      ),
    )

    expect(dropped.rows).toEqual([{ dropped: false }, { dropped: false }])
    expect((await adminStore.getJob(young))?.state).toBe('completed')
    expect((await adminStore.getJob(cold))?.state).toBe('completed')
    expect(await denied(`select spillway.drop_terminal_partition('dlq_entries')`, 'work')).toBe('42P01')
  })

  it('let no worker set policy, rewrite the audit, or change the schema', async () => {
    const refused = await opened('work')
      .queues.pause('billing')
      .catch((error: unknown) => error)

    expect(refused).toMatchObject({ code: 'store_forbidden' })
    expect(await denied(`update spillway.audit_log set actor = 'nobody'`, 'work')).toBe('42501')
    expect(await denied('truncate spillway.dlq_entries', 'work')).toBe('42501')
    expect(await denied('alter table spillway.dlq_entries add column x integer', 'work')).toBe('42501')
    expect(await denied('drop table spillway.dlq_entries', 'serve')).toBe('42501')
    expect(await denied('create table spillway.mine (id integer)', 'work')).toBe('42501')
    expect(await denied('insert into spillway.migrations (version, name) values (99, $$x$$)', 'serve')).toBe('42501')
  })

  it('let operators act', async () => {
    const spillway = opened('serve')
    const { id } = await given.job({ state: 'archived', queue: 'billing' })

    await spillway.queues.pause('billing', { reason: 'bank is down' })
    await spillway.dlq.retry(id)
    await spillway.queues.resume('billing')
    await spillway.jobs.cancel(id)
    const { id: bulk } = await given.job({ state: 'archived', queue: 'mail' })
    const operation = await (await spillway.dlq.purgeMany({ queue: 'mail' })).done()

    expect(operation).toMatchObject({ state: 'done', succeeded: 1 })
    expect(await spillway.jobs.get(bulk)).toBeUndefined()
  })

  it('let readers see everything, and the doctor say what they may not', async () => {
    const spillway = opened('read')
    const { id } = await given.job({ state: 'archived', queue: 'billing' })

    const found = await spillway.dlq.get(id)
    const { findings } = await spillway.doctor()
    const metrics = await (await spillway.metrics()).text()

    expect(found?.id).toBe(id)
    expect((await spillway.dlq.list()).items.length).toBeGreaterThan(0)
    expect((await spillway.audit.list()).items.length).toBeGreaterThan(0)
    expect(findings).toContainEqual(expect.objectContaining({ code: 'role_reads_only', severity: 'info' }))
    expect(metrics).toMatch(/^spillway_store_up 1$/m)
  })

  it('let readers change nothing, by no way of the library', async () => {
    const spillway = opened('read')
    const { id } = await given.job({ state: 'archived', queue: 'billing' })
    const { id: waits } = await given.job({ state: 'scheduled' })
    const tries: readonly (() => Promise<unknown>)[] = [
      () => spillway.enqueue('act', {}),
      () => spillway.enqueueMany('act', [{ payload: {} }]),
      () => spillway.dlq.retry(id),
      () => spillway.dlq.discard(id),
      () => spillway.dlq.purge(id),
      () => spillway.dlq.purgeMany({ queue: 'billing' }),
      () => spillway.jobs.cancel(waits),
      () => spillway.jobs.promote(waits),
      () => spillway.jobs.kill(waits),
      () => spillway.jobs.editPayload(id, {}),
      () => spillway.queues.pause('billing'),
      () => spillway.queues.set('billing', { dlqEnabled: false }),
      () => spillway.worker({ queues: { billing: {} }, jobs: [handled] }).start(),
      () => spillway.migrate(),
    ]

    const answers = await Promise.all(
      tries.map((act) =>
        act().then(
          () => 'done',
          (error: { code?: string }) => error.code,
        ),
      ),
    )

    expect([...new Set(answers)]).toEqual(['store_forbidden'])
    expect((await adminStore.getJob(id))?.state).toBe('archived')
  })

  it("give readers no right to write any table, now or later, and nobody a way around by the owner's functions", async () => {
    const { rows } = await onServer(url, (client) =>
      client.query<{ name: string; right: string }>(
        `select c.relname as name, r as right
           from pg_class c, unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) r
          where c.relnamespace = 'spillway'::regnamespace and c.relkind in ('r', 'p') and has_table_privilege($1, c.oid, r)
         union all
         select p.proname, 'EXECUTE' from pg_proc p
          where p.pronamespace = 'spillway'::regnamespace and p.prosecdef and has_function_privilege($1, p.oid, 'EXECUTE')
         union all
         select p.proname, 'PUBLIC EXECUTE' from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
          where p.pronamespace = 'spillway'::regnamespace and p.prosecdef and a.grantee = 0
         union all
         select p.proname, 'no search_path' from pg_proc p
          where p.pronamespace = 'spillway'::regnamespace and p.prosecdef
            and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')`,
        [`${prefix}_read`],
      ),
    )

    expect(rows).toEqual([])
  })
})

describe('the migrate role', () => {
  const { url } = emptyDatabase()

  it('makes the schema, and what it makes is usable by the others', async () => {
    await makeRoles(url)
    const deploy = new Spillway({ url: as(url, 'migrate') })
    const app = new Spillway({ url: as(url, 'work') })
    const reader = new Spillway({ url: as(url, 'read') })
    onTestFinished(async () => {
      for (const it of [deploy, app, reader]) await it.close()
    })

    const { applied } = await deploy.migrate()
    const { id } = await app.enqueue(job, { how: 'work' })
    const worker = app.worker({ queues: { billing: {} }, jobs: [handled] })
    await worker.start()
    await until(async () => (await reader.jobs.get(id))?.state === 'completed')
    await worker.stop()

    expect(applied).toContain('0010_roles')
    await expect(reader.enqueue(job, { how: 'work' })).rejects.toMatchObject({ code: 'store_forbidden' })
  })
})
