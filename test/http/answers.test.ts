import { expect, it } from 'vitest'
import { z } from 'zod'
import { CONTRACT, type Route } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'
import { apiOn, KNOWN, ROUTE_NAMES } from './api.js'
import { SAMPLES } from './samples.js'

/** As the document has it: not a field more. */
function closed(schema: z.ZodType): z.ZodType {
  return z.fromJSONSchema(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as never)
}

describeStore('an answer', ({ store, given, db }) => {
  const api = apiOn(store, { access: KNOWN })

  it.each(ROUTE_NAMES)('of %s is what the contract says', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    const lines = typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}

    const answer = await api(line, {
      body,
      ...lines,
      ...(CONTRACT[name as 'bulkJobs'].keyRequired ? { key: 'k' } : {}),
    })

    const { answers }: Route = CONTRACT[name]
    const shape = answers[answer.status]
    expect(shape, `${answer.status} ${answer.text}`).toBeDefined()
    if (typeof shape === 'object') {
      expect(closed(shape).safeParse(answer.body).error?.issues ?? [], answer.text).toEqual([])
      // A list without rows would show nothing of their shape.
      if (Array.isArray(answer.body.items) && name !== 'operationRows') expect(answer.body.items).not.toEqual([])
    }
  })
})
