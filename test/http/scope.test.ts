import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

const of = (items: { id: string }[]) => items.map(({ id }) => id).sort()

describeStore('a token of some queues', ({ store, given, db }) => {
  const api = apiOn(store, { access: { tokens: true } })
  const tokenOf = async (...queues: string[]) =>
    (await api.client.tokens.create({ name: 'ann', role: 'admin', queues })).secret

  it('sees the jobs, dead letters, causes, workers and counts of those alone', async () => {
    const [mine] = await given.jobs(1, { state: 'archived', queue: 'mine', tags: ['t'], kind: 'k' })
    const [also] = await given.jobs(1, { state: 'archived', queue: 'also', tags: ['t'], kind: 'k' })
    await given.jobs(3, { state: 'archived', queue: 'theirs', tags: ['t'], kind: 'k' })
    await given.jobs(2, { queue: 'theirs' })
    await given.worker({ queues: ['theirs'] })
    await given.worker({ queues: ['mine', 'theirs'] })

    for (const [token, ids] of [
      [await tokenOf('mine'), [mine]],
      [await tokenOf('mine', 'also'), [mine, also].sort()],
    ] as const) {
      for (const line of [
        '/jobs',
        '/jobs?state=archived',
        '/jobs?kind=k',
        '/dlq',
        '/dlq?tag=t',
        '/dlq?kind=k',
        '/dlq?q=failed',
      ]) {
        const { body } = await api(`GET ${line}`, { token })
        expect(of(body.items), line).toEqual(ids)
        expect(body.total?.count ?? ids.length, line).toBe(ids.length)
      }
      expect((await api('GET /dlq/depth', { token })).body.total).toBe(ids.length)
      expect((await api('GET /dlq/groups', { token })).body.items).toHaveLength(ids.length)
      expect((await api('GET /jobs/counts', { token })).body.archived).toBe(ids.length)
      const workers = await api('GET /workers', { token })
      expect(workers.body.items).toMatchObject([{ queues: ['mine'] }])
      const queues = (await api('GET /queues', { token })).body.items.map((it: { queue: string }) => it.queue)
      expect(queues).not.toContain('theirs')
      expect((await api('GET //metrics', { token })).text).not.toContain('theirs')
      expect((await api('POST /dlq/export', { token })).text.trim().split('\n')).toHaveLength(ids.length)
    }
  })

  it('finds no job of another queue, and moves none', async () => {
    const theirs = (await given.job({ state: 'archived', queue: 'theirs' })).id
    const mine = (await given.job({ state: 'archived', queue: 'mine' })).id
    const token = await tokenOf('mine')

    for (const line of [
      `GET /jobs/${theirs}`,
      `GET /jobs/${theirs}?include_payload=true`,
      `GET /jobs/${theirs}/why`,
      `GET /jobs/${theirs}/history`,
      `GET /jobs/${theirs}/payloads`,
      `GET /dlq/${theirs}`,
      `POST /dlq/${theirs}/retry`,
      `POST /dlq/${theirs}/discard`,
      `DELETE /dlq/${theirs}`,
      `DELETE /jobs/${theirs}`,
      `POST /jobs/${theirs}/retry`,
    ]) {
      expect(await api(line, { token }), line).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    const named = await api('POST /jobs/actions', { token, key: 'k', body: { action: 'retry', ids: [mine, theirs] } })
    expect(named.body).toMatchObject({ succeeded: [mine], failed: [{ id: theirs, code: 'not_found' }] })
    expect(await store.getJob(theirs)).toMatchObject({ state: 'archived' })
  })

  it('says nothing about causes, archived jobs and dead letters of others, and brings none back', async () => {
    const old = new Date(Date.now() - 31 * 86_400_000)
    const cold = { state: 'archived', dlqAt: old, retainFrom: old } as const
    for (const queue of ['mine', 'theirs']) await api.client.queues.set(queue, { coldArchive: true, dlqMaxRows: 10 })
    const [mine, theirs] = [await given.job({ ...cold, queue: 'mine' }), await given.job({ ...cold, queue: 'theirs' })]
    await store.retain(1_000)
    const dead = await given.job({ state: 'archived', queue: 'theirs', cause: 'c1' })
    const [token, both] = [await tokenOf('mine'), await tokenOf('mine', 'also')]

    for (const [line, body] of [
      [`GET /archive/${theirs.id}`],
      [`GET /archive/${theirs.id}?include_payload=true`],
      [`POST /archive/${theirs.id}/restore`],
      [`GET /dlq/${dead.id}/triage`],
      [`POST /dlq/${dead.id}/ack`],
      [`POST /dlq/${dead.id}/note`, { text: 'x' }],
      [`POST /dlq/${dead.id}/mute`, { until: '1d' }],
      [`POST /dlq/${dead.id}/resolve`],
    ] as const) {
      expect(await api(line, { token, body }), line).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    for (const verb of ['ack', 'note', 'mute', 'resolve']) {
      const more = verb === 'note' ? { text: 'x' } : verb === 'mute' ? { until: '1d' } : {}
      const answer = await api(`POST /dlq/causes/c1/${verb}`, { token, body: { queue: 'theirs', ...more } })
      expect(answer, verb).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    for (const line of [
      'GET /archive/months',
      'POST /archive/prune',
      'POST /duties/retain/pause',
      'PATCH /rings/ready',
      'PATCH /events/retention',
    ]) {
      const body = { 'POST /archive/prune': { month: '2020-01' }, 'PATCH /events/retention': { retention: '1d' } }[line]
      expect((await api(line, { token, body: body ?? (line.startsWith('GET') ? undefined : {}) })).status, line).toBe(
        403,
      )
    }
    expect(of((await api('GET /archive', { token })).body.items)).toEqual([mine.id])
    expect((await api('GET /archive', { token: both })).body.code).toBe('selector_refused')
    expect(of((await api('GET /archive?queue=mine', { token: both })).body.items)).toEqual([mine.id])
    expect((await api('GET /archive/export', { token })).text).not.toContain('theirs')
    expect((await api('GET /dlq/unreviewed', { token })).body.items).toEqual([])
    expect((await api('GET /dlq/capped', { token })).text).not.toContain('theirs')
    const left = (await api('GET /removed', { token })).body.items.map((it: { queue: string }) => it.queue)
    expect([...new Set(left)]).toEqual(['mine'])
    expect((await api(`POST /archive/${mine.id}/restore`, { token })).status).toBe(200)
    expect(await store.getJob(theirs.id)).toBeUndefined()
    expect(await store.triageOf(dead.id)).toBeUndefined()
  })

  it('imports into them, and names the lines of others', async () => {
    const [mine, theirs] = [
      await given.job({ state: 'archived', queue: 'mine' }),
      await given.job({ state: 'archived', queue: 'theirs' }),
    ]
    const lines = (await api('POST /dlq/export', { token: await tokenOf('mine', 'theirs') })).text
    await api.client.dlq.purgeIds([mine.id, theirs.id])
    const headers = { 'content-type': 'application/x-ndjson' }

    const { status, body } = await api('POST /dlq/import', { token: await tokenOf('mine'), body: lines, headers })

    expect(status).toBe(200)
    expect(body).toMatchObject({
      imported: 1,
      refused: [{ code: 'forbidden', message: expect.stringContaining('theirs') }],
    })
    expect(await store.getJob(mine.id)).toMatchObject({ state: 'archived' })
    expect(await store.getJob(theirs.id)).toBeUndefined()
  })

  it('releases a fingerprint that holds none but their jobs, and no other', async () => {
    const held = (fingerprint: string, queue: string) =>
      given.job({ state: 'quarantined', heldReason: 'crash_bound', fingerprint, queue })
    const [own, shared, foreign] = ['a', 'b', 'c'].map((it) => it.repeat(32)) as [string, string, string]
    const job = await held(own, 'mine')
    const both = [await held(shared, 'mine'), await held(shared, 'theirs')]
    await held(foreign, 'theirs')
    const token = await tokenOf('mine')
    const release = (fingerprint: string) => api(`POST /quarantine/${fingerprint}/release`, { token })

    expect(await release(own)).toMatchObject({ status: 200, body: { released: 1 } })
    expect(await release(shared)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(await release(foreign)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await store.getJob(job.id)).toMatchObject({ state: 'available' })
    for (const { id } of both) expect(await store.getJob(id)).toMatchObject({ state: 'quarantined' })
    expect((await api(`POST /jobs/${both[0]?.id}/release`, { token })).status).toBe(200)
  })

  it('sees of what a fingerprint crashed no more than its own jobs', async () => {
    const fingerprint = 'd'.repeat(32)
    const mine = await given.job({ state: 'quarantined', heldReason: 'crash_bound', fingerprint, queue: 'mine' })
    const theirs = await given.job({ state: 'archived', queue: 'theirs' })
    for (const { id, queue } of [mine, theirs]) {
      const text = `insert into spillway.crashes (fingerprint, kind, queue, job_id, registration, alone, worker)
                    values ('${fingerprint}', 'test', '${queue}', ${id}, ${id}, true, 'worker of ${queue}')`
      await db.run({ name: `crash ${queue}`, text }, [])
    }
    const token = await tokenOf('mine')

    for (const look of ['', '?include_payload=true']) {
      const { body } = await api(`GET /quarantine/${fingerprint}${look}`, { token })
      expect(body.crash_log, look).toMatchObject([{ job_id: mine.id }])
      expect(body.workers, look).toEqual(['worker of mine'])
    }
    const whole = (await api.client.tokens.create({ name: 'root', role: 'admin' })).secret
    expect((await api(`GET /quarantine/${fingerprint}`, { token: whole })).body.crash_log).toHaveLength(2)
  })

  it('has its bulk work narrowed to them', async () => {
    await given.jobs(2, { state: 'archived', queue: 'mine' })
    await given.jobs(2, { state: 'archived', queue: 'also' })
    await given.jobs(3, { state: 'archived', queue: 'theirs' })

    for (const [token, count] of [
      [await tokenOf('mine'), 2],
      [await tokenOf('mine', 'also'), 4],
    ] as const) {
      const { body } = await api('POST /dlq/bulk-retry', { token, body: { selector: { all: true }, dry_run: true } })
      expect(await api.client.operations.run(body.id)).toMatchObject({ matched: count })
    }
    const token = await tokenOf('mine', 'also')
    const purge = await api('POST /dlq/bulk-purge', { token, body: { selector: { kind: 'test' } } })
    expect(await api.client.operations.run(purge.body.id)).toMatchObject({
      state: 'done',
      succeeded: 4,
      newerLeftAlone: 0,
    })
    expect((await store.dlqDepth()).queues).toMatchObject([{ queue: 'theirs', depth: 3 }])
  })

  it('is told nothing of named jobs of other queues: neither that they are there, nor in which state', async () => {
    const states = ['archived', 'failed', 'available', 'running', 'completed', 'discarded', 'quarantined'] as const
    const there = await Promise.all(states.map(async (state) => (await given.job({ state, queue: 'theirs' })).id))
    const never = '900000000000'
    const mine = (await given.job({ state: 'archived', queue: 'mine' })).id

    for (const token of [await tokenOf('mine'), await tokenOf('mine', 'also')]) {
      for (const action of ['retry', 'discard', 'move', 'purge']) {
        const body = { action, selector: { ids: [...there, never] } }
        const { id } = (await api('POST /jobs/bulk', { token, key: `${action} ${token}`, body })).body
        await api.client.operations.run(id)
        const { items } = (await api(`GET /operations/${id}/rows`, { token })).body
        const told = items.map((it: { id: string; code: string; message: string }) => [
          it.code,
          it.message.replace(it.id, 'ID'),
        ])
        expect(of(items), action).toEqual([...there, never].sort())
        expect(new Set(told.map(String)).size, `${action}: ${JSON.stringify(told)}`).toBe(1)
        expect(told[0][0], action).toBe('not_found')
      }
      const after = (id: string) => api(`GET /dlq?before_id=${id}`, { token })
      expect((await after(mine)).status).toBe(200)
      const [foreign, none] = [await after(there[0] as string), await after(never)]
      expect([foreign.status, none.status]).toEqual([404, 404])
      expect(foreign.body.detail.replace(there[0], never)).toBe(none.body.detail)
    }
    for (const [n, id] of there.entries()) expect(await store.getJob(id)).toMatchObject({ state: states[n] })
  })

  it('is refused where it names another queue', async () => {
    const { id } = await given.job({ state: 'archived', queue: 'mine' })
    const token = await tokenOf('mine')

    for (const [line, body] of [
      ['GET /jobs?queue=theirs', undefined],
      ['GET /dlq?queue=theirs', undefined],
      ['GET /dlq/depth?queue=theirs', undefined],
      ['GET /removed?queue=theirs', undefined],
      ['GET /queues/theirs', undefined],
      ['POST /jobs', { kind: 'k', queue: 'theirs' }],
      ['POST /jobs', { kind: 'k' }],
      [`POST /dlq/${id}/retry`, { queue: 'theirs' }],
      [`PATCH /jobs/${id}`, { queue: 'theirs' }],
      ['POST /dlq/bulk-retry', { selector: { queue: 'theirs' } }],
      ['POST /dlq/bulk-retry', { selector: { queues: ['mine', 'theirs'], all: true } }],
      ['POST /dlq/bulk-retry', { selector: { queue: 'theirs', queues: ['mine'] } }],
      ['POST /dlq/bulk-retry', { selector: { queue: 'mine' }, overrides: { queue: 'theirs' } }],
      ['POST /queues/theirs/pause', {}],
      ['POST /tokens', { name: 'x' }],
      ['POST /masking', { path: 'a' }],
      ['DELETE /masking/a', undefined],
    ] as const) {
      expect(await api(line, { token, body }), line).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    expect(await store.getJob(id)).toMatchObject({ state: 'archived', queue: 'mine' })
  })

  it('knows of no operation and no deed on other queues', async () => {
    const root = (await api.client.tokens.create({ name: 'root', role: 'admin' })).secret
    const theirs = (await api('POST /dlq/bulk-discard', { token: root, body: { selector: { queue: 'theirs' } } })).body
      .id
    const all = (await api('POST /dlq/bulk-discard', { token: root, body: { selector: { all: true } } })).body.id
    const mine = (await api('POST /dlq/bulk-discard', { token: root, body: { selector: { queue: 'mine' } } })).body.id
    await api('POST /queues/theirs/pause', { token: root })
    await api('POST /queues/mine/pause', { token: root })
    const token = await tokenOf('mine')

    expect(of((await api('GET /operations', { token })).body.items)).toEqual([mine])
    for (const id of [theirs, all]) {
      expect((await api(`GET /operations/${id}`, { token })).status).toBe(404)
      expect((await api(`GET /operations/${id}/rows`, { token })).status).toBe(404)
      expect((await api(`POST /operations/${id}/cancel`, { token })).status).toBe(404)
      expect((await api('POST /dlq/bulk-discard', { token, body: { preview: id } })).status).toBe(404)
    }
    const deeds = (await api('GET /audit?action=pause_queue', { token })).body.items
    expect(deeds.map((it: { target: { queue: string } }) => it.target.queue)).toEqual(['mine'])
  })
})
