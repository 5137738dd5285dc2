import { defineJob, Spillway } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/store/postgres/sql.js'
import { commandLine } from '../cli/spillway.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

const PAYLOAD = '{"id":9007199254740993,"list":[-9007199254740993]}'
/** 2^53 + 1: a number in JavaScript would be its neighbour. */
const FIRST_ID = '9007199254740993'

describeStore('a number that JavaScript would round, in a payload and as an id', ({ store, db, url }) => {
  const spillway = new Spillway({ url })
  const api = apiOn(store)
  const shell = commandLine(url)
  afterAll(() => spillway.close())

  const stored = async (id: string) => (await store.getJob(id, { payload: true }))?.payloadText

  it('stays what it was from its enqueue by SQL through death, lists, an edit, a redrive, export and import', async () => {
    await db.run(sql<[string], []>`select setval('spillway.job_ids', $1::bigint, false)`, [FIRST_ID])
    const [row] = await db.run(sql<[string], [string]>`select spillway.enqueue('exact', $1::json)`, [PAYLOAD])
    const id = row?.[0] as string
    await spillway.jobs.kill(id)

    const listed = await api('GET /dlq')
    const shown = await api(`GET /jobs/${id}?include_payload=true`)
    const printed = await shell('dlq', 'get', id, '--json')
    const body = `{"payload":${/"payload":(\{.*?\})[,}]/.exec(shown.text)?.[1]}}`
    const saved = await api(`PUT /jobs/${id}/payload`, { body })
    const afterEdit = await stored(id)
    await api(`POST /dlq/${id}/retry`, { key: 'retry' })
    const afterRetry = await stored(id)
    await spillway.jobs.kill(id)
    const lines: string[] = []
    for await (const line of spillway.dlq.export({ kind: 'exact' })) lines.push(line)
    await spillway.dlq.purge(id)
    await spillway.dlq.import(lines)

    expect(listed.body.items).toMatchObject([{ id: FIRST_ID }])
    expect(shown.text).toContain(`"payload":${PAYLOAD}`)
    expect(printed.stdout.replace(/\s+/g, '')).toContain(PAYLOAD)
    expect(saved.status).toBe(200)
    expect([id, afterEdit, afterRetry, await stored(id)]).toEqual([FIRST_ID, PAYLOAD, PAYLOAD, PAYLOAD])
  })

  it('reaches a handler that asks for it, and parks the job where it would be rounded', async () => {
    const seen: unknown[] = []
    const exact = defineJob<{ id: unknown }>({ kind: 'exact', bigint: true })
    const rounding = defineJob<{ id: unknown }>({ kind: 'rounding' })
    const run = ({ id }: { id: unknown }) => void seen.push(id)
    const worker = spillway.worker({
      queues: { default: {} },
      poll: 50,
      jobs: [exact.handle(run), rounding.handle(run)],
    })
    onTestFinished(() => worker.stop())
    await worker.start()
    const enqueue = sql<[kind: string, payload: string], [string]>`select spillway.enqueue($1, $2::json)`
    const [good] = await db.run(enqueue, ['exact', PAYLOAD])
    const [bad] = await db.run(enqueue, ['rounding', PAYLOAD])

    await until(async () => (await store.getJob(good?.[0] as string))?.state === 'completed')
    await until(async () => (await store.getJob(bad?.[0] as string))?.state === 'undecodable')

    expect(seen).toEqual([9007199254740993n])
    expect(await store.getJob(bad?.[0] as string)).toMatchObject({ reason: expect.stringMatching(/^id: /) })
    expect(await stored(bad?.[0] as string)).toBe(PAYLOAD)
  })
})
