import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

const DAY = 86_400_000
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('spillway for years', ({ store, given, url, clock }) => {
  const spillway = commandLine(url)

  it('sets how long and how many: every flag of queues set', async () => {
    const { code, document } = await spillway.json(
      ...['queues', 'set', 'billing', '--dlq-retention', '90d', '--dlq-max-rows', '1000', '--keep-unreviewed', 'true'],
      ...['--cold-archive', 'true', '--archive-retention', 'none'],
    )

    expect(code).toBe(0)
    expect(document).toMatchObject({
      policy: {
        retention: { dlq: 90 * DAY, archive: null },
        dlq_max_rows: 1_000,
        keep_unreviewed: true,
        cold_archive: true,
      },
    })

    const none = await spillway.json('queues', 'set', 'billing', '--dlq-retention', 'none', '--dlq-max-rows', 'none')
    expect(none.document).toMatchObject({ policy: { retention: { dlq: null, archive: null }, dlq_max_rows: null } })
  })

  it('marks dead letters and causes, and shows regressions', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'billing', cause: 'c1' })
    const cause = ['--queue', 'billing', '--cause', 'c1']

    const acked = await spillway.json('dlq', 'ack', id, '--reason', 'seen')
    const noted = await spillway('dlq', 'note', id, '--text', 'the card')
    const muted = await spillway.json('dlq', 'mute', ...cause, '--until', '7d')
    const mutedGroups = await spillway.json('dlq', 'groups', '--triage', 'muted')
    await spillway('dlq', 'mute', ...cause, '--clear')
    const resolved = await spillway.json('dlq', 'resolve', ...cause, '--link', 'https://example.com/1')
    await clock.advance('1m')
    await given.job({ state: 'archived', queue: 'billing', cause: 'c1' })
    const groups = await spillway.json('dlq', 'groups', '--triage', 'regressed')
    const table = await spillway('dlq', 'groups')
    const got = await spillway.json('dlq', 'get', id)
    const shown = await spillway('dlq', 'get', id)
    const unreviewed = await spillway.json('dlq', 'unreviewed')

    expect([acked.code, noted.code, muted.code, resolved.code]).toEqual([0, 0, 0, 0])
    expect(noted.stdout).toMatch(/^noted\n/)
    expect(mutedGroups.document).toMatchObject({ items: [{ cause: 'c1', status: 'muted' }] })
    expect(groups.document).toMatchObject({
      items: [
        {
          status: 'regressed',
          regressed_at: expect.any(String),
          triage: { link: 'https://example.com/1' },
          unreviewed: 1,
        },
      ],
    })
    expect(table.stdout).toMatch(/^JOBS +UNREVIEWED +STATUS +CAUSE/)
    expect(table.stdout).toMatch(/^2 +1 +regressed +c1/m)
    expect(got.document).toMatchObject({ triage: { note: 'the card', acknowledged_by: expect.any(String) } })
    expect(shown.stdout).toMatch(/note +the card/)
    expect(unreviewed.document).toEqual({ items: [{ queue: 'billing', unreviewed: 1 }] })
  })

  it.each([
    [['ack']],
    [['ack', '1', '--queue', 'billing']],
    [['ack', '--cause', 'c1']],
    [['note', '1']],
    [['mute', '1']],
    [['mute', '1', '--until', '7d', '--clear']],
  ])('refuses %j: it cannot be told what is meant', async (words) => {
    expect((await spillway('dlq', ...words)).code).toBe(2)
  })

  it('keeps an archive: lists, searches, shows, exports, restores, prunes', async () => {
    await store.setQueue('billing', { coldArchive: true, retention: { archive: DAY } }, { actor: 'test' })
    const old = { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
    const first = await given.job({
      state: 'archived',
      queue: 'billing',
      ...old,
      errorMessage: 'no funds',
      payload: { n: 1 },
    })
    const second = await given.job({ state: 'archived', queue: 'billing', ...old, errorMessage: 'expired' })
    await store.retain(1_000)

    const list = await spillway.json('archive', 'list', '--queue', 'billing')
    const found = await spillway.json('archive', 'search', 'funds')
    const got = await spillway.json('archive', 'get', first.id)
    const missing = await spillway('archive', 'get', '999999')
    const exported = await spillway('archive', 'export', '--queue', 'billing')
    const restored = await spillway.json('archive', 'restore', first.id, '--reason', 'asked for')
    const months = await spillway.json('archive', 'months')
    const { month } = (months.document as { items: { month: string }[] }).items[0]!
    const early = await spillway('archive', 'prune', month)
    await clock.advance('40d')
    const { items } = (await spillway.json('archive', 'months')).document as {
      items: { month: string; is_prunable: boolean }[]
    }
    const pruned = await spillway.json('archive', 'prune', items[0]!.month)

    expect((list.document as { items: { id: string }[] }).items.map(({ id }) => id).sort()).toEqual(
      [first.id, second.id].sort(),
    )
    expect(found.document).toMatchObject({ items: [{ id: first.id }] })
    expect(got.document).toMatchObject({
      id: first.id,
      payload: { n: 1 },
      why: 'expired',
      keep_until: expect.any(String),
    })
    expect(missing.code).toBe(3)
    expect(
      exported.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id)
        .sort(),
    ).toEqual([first.id, second.id].sort())
    expect(restored.document).toEqual({ id: first.id, state: 'archived', changed: true })
    expect([early.code, early.stderr]).toEqual([4, expect.stringContaining('the month is not over')])
    expect(items).toMatchObject([{ rows: 1, is_prunable: true }])
    expect(pruned.document).toEqual({ month: items[0]!.month, rows: 1 })
  })

  it('says how many left for good, by how and why', async () => {
    const old = { dlqAt: ago(31 * DAY), retainFrom: ago(31 * DAY) }
    await given.jobs(2, { state: 'archived', queue: 'billing', dlqReason: 'skipped', ...old })
    const { id } = await given.job({ state: 'completed', queue: 'mail' })
    await store.retain(1_000)
    await spillway('jobs', 'purge', id)

    const all = await spillway.json('queues', 'removed')
    const table = await spillway('queues', 'removed', '--queue', 'billing', '--since', '1h')
    const none = await spillway('queues', 'removed', '--queue', 'other')

    expect(all.document).toEqual({
      items: [
        { queue: 'billing', why: 'expired', reason: 'skipped', count: 2 },
        { queue: 'mail', why: 'purged', reason: 'purged', count: 1 },
      ],
    })
    expect(table.stdout).toMatch(/^QUEUE +WHY +REASON +JOBS\nbilling +expired +skipped +2\n/)
    expect(none.stdout).toBe('none has left\n')
  })

  it('says what leaves soon, and what is nearly full', async () => {
    await store.setQueue('billing', { dlqMaxRows: 1 }, { actor: 'test' })
    await given.job({ state: 'archived', queue: 'billing', dlqAt: ago(25 * DAY), retainFrom: ago(25 * DAY) })

    const expiring = await spillway.json('dlq', 'expiring', '--within', '7d')
    const depth = await spillway('dlq', 'depth')

    expect(expiring.document).toMatchObject({ items: [{ queue: 'billing', count: 1, first_at: expect.any(String) }] })
    expect(depth.stderr).toContain('queue billing has 1 of at most 1 dead letters')
  })

  it('stops duties and lets them go on, and sets when rings turn', async () => {
    const paused = await spillway.json('duties', 'pause', 'retain_dlq', '--reason', 'a restore runs')
    const list = await spillway('duties', 'list')
    const resumed = await spillway('duties', 'resume', 'retain_dlq')
    const unknown = await spillway('duties', 'pause', 'sleep')
    const ring = await spillway.json('rings', 'set', 'ready', '--rotate-rows', '50000', '--rotate-after', '30s')
    const rings = await spillway('rings', 'list')
    await spillway('rings', 'set', 'ready', '--rotate-rows', '20000', '--rotate-after', '10s')

    expect(paused.document).toMatchObject({ duty: 'retain_dlq', paused_reason: 'a restore runs' })
    expect(list.stdout).toMatch(/^retain_dlq +paused/m)
    expect(resumed.stdout).toBe('resumed retain_dlq\n')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('known are promote')])
    expect(ring.document).toMatchObject({ ring: 'ready', rotate_rows: 50_000, rotate_ms: 30_000 })
    expect(rings.stdout).toMatch(/^ready +\d .* 50000 +30s/m)
  })
})
