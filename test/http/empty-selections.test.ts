import { expect, it } from 'vitest'
import { z } from 'zod'
import { CONTRACT, type Route, type RouteName } from '../../src/http/index.js'
import { isMutation } from '../../src/http/route.js'
import { describeStore } from '../support/store.js'
import { apiOn, lineOf, ROUTE_NAMES } from './api.js'
import { SAMPLES } from './samples.js'

const bodyOf = (name: RouteName) => (CONTRACT[name] as Route).body
const keysOf = (name: RouteName) => {
  const body = bodyOf(name)
  return body instanceof z.ZodObject ? Object.keys(body.shape) : []
}
const changes = ROUTE_NAMES.filter((name) => isMutation(CONTRACT[name]))
const taking = changes.filter((name) => bodyOf(name) !== undefined)
/** Those that are about what a selector or a list of ids says. */
const selecting = changes.filter((name) => keysOf(name).some((key) => key === 'selector' || key === 'ids'))

/** What names nothing, or not what somebody meant. */
const NOTHING: readonly object[] = [
  ...[
    {},
    { ids: [] },
    { ids: null },
    { ids: '' },
    { id: '1' },
    { filter: {} },
    { selctor: { all: true } },
    { al: true },
  ],
  ...[
    {},
    { ids: [] },
    { queue: '' },
    { queue: null },
    { que: 'q' },
    { all: false },
    { all: 'true' },
    { state: 'archived' },
  ].map((selector) => ({ selector })),
]

const EVERYTHING = `
  select (select count(*) from spillway.dlq_entries), (select count(*) from spillway.held_entries),
         (select count(*) from spillway.operations), (select count(*) from spillway.audit_log),
         (select count(*) from spillway.idempotency_keys)`

describeStore('a change that says nothing, or something else', ({ store, given, db }) => {
  const api = apiOn(store)
  const everything = () => db.run({ name: 'everything', text: EVERYTHING }, [])

  it('is asked for by every route that selects', () => {
    expect(selecting).toEqual(
      expect.arrayContaining(['bulkRetryDlq', 'bulkPurgeDlq', 'bulkJobs', 'actOnJobs', 'releaseUndecodable']),
    )
  })

  it.each(selecting.flatMap((name) => NOTHING.map((body) => [name, body] as const)))(
    'is refused by %s for %j, and touches nothing',
    async (name, body) => {
      await given.job({ state: 'archived' })
      await given.job({ state: 'undecodable' })
      const before = await everything()
      const action = keysOf(name).includes('action') ? { action: 'retry' } : {}

      const answer = await api(lineOf(name), { body: { ...action, ...body }, key: 'k' })

      expect(answer.status, answer.text).toBe(422)
      expect(['selector_refused', 'invalid_option']).toContain(answer.body.code)
      expect(await everything()).toEqual(before)
    },
  )

  it.each(taking)('is refused by %s for a key it does not know, beside all it needs', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    const before = await everything()

    const misspelt = await api(line, { body: { ...(body as object), certainly_unknown: 1 }, key: 'k' })
    const inQuery = await api(`${line}?certainly_unknown=1`, { body: body ?? {}, key: 'k' })

    for (const answer of [misspelt, inQuery]) {
      expect(answer, answer.text).toMatchObject({ status: 422, body: { code: expect.any(String) } })
      expect(answer.text).toContain('certainly_unknown')
    }
    expect(await everything()).toEqual(before)
  })

  it.each(changes)('is not what a GET on the path of %s does', async (name) => {
    const { line } = await SAMPLES[name]({ given, api, db })
    const before = await everything()

    const { status } = await api(line.replace(/^\w+/, 'GET'))

    // Either the path has no GET, or it is one that looks.
    const looks = (Object.values(CONTRACT) as readonly Route[]).some(
      (it) => it.method === 'GET' && it.path === CONTRACT[name].path,
    )
    expect(status).toBe(looks ? 200 : 405)
    expect(await everything()).toEqual(before)
  })
})
